// The account's quotas and their use.
import Container from "@cloudscape-design/components/container";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Header from "@cloudscape-design/components/header";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import type { Settings } from "../../../shared/api/settings.ts";

const KINDS: Record<keyof Settings["quotas"], string> = {
  servers: "Servers",
  instances: "Instances",
  tokens: "API keys",
  ssh_keys: "SSH keys",
  users: "Users",
};

export function Quotas({ quotas }: { quotas: Settings["quotas"] }) {
  return (
    <Container
      header={
        <Header variant="h2" description="Contact your operator to raise these limits.">
          Quotas
        </Header>
      }
    >
      <ColumnLayout columns={3}>
        <Quota kind={KINDS.servers} of={quotas.servers} />
        <Quota kind={KINDS.instances} of={quotas.instances} />
        <Quota kind={KINDS.tokens} of={quotas.tokens} />
        <Quota kind={KINDS.ssh_keys} of={quotas.ssh_keys} />
        <Quota kind={KINDS.users} of={quotas.users} />
      </ColumnLayout>
    </Container>
  );
}

function Quota({ kind, of: { used, limit } }: { kind: string; of: { used: number; limit: number } }) {
  return (
    <ProgressBar label={kind} value={limit === 0 ? 100 : (100 * used) / limit} additionalInfo={`${used} of ${limit} used`} />
  );
}
