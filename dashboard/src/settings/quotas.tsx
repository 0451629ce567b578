// The account's quotas and their use.
import ColumnLayout from "@cloudscape-design/components/column-layout";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import type { Settings } from "../../../shared/api/settings.ts";
import { text } from "../messages/text.ts";
import { Section } from "../resource/page/section.tsx";
import { formatCount } from "../resource/words/number.ts";
import { sizeInWords } from "../resource/words/size.ts";

export function Quotas({ quotas }: { quotas: Settings["quotas"] }) {
  const say = text.settings.quotas;
  return (
    <Section title={say.title} description={say.about}>
      <ColumnLayout columns={3}>
        <Quota kind={say.servers} of={quotas.servers} />
        <Quota kind={say.instances} of={quotas.instances} />
        <Quota kind={say.tokens} of={quotas.tokens} />
        <Quota kind={say.sshKeys} of={quotas.ssh_keys} />
        <Quota kind={say.users} of={quotas.users} />
        <Quota kind={say.backups} of={quotas.backups} />
        <Quota kind={say.backupBytes} of={quotas.backup_bytes} inWords={sizeInWords} />
        <Quota kind={say.webhooks} of={quotas.webhooks} />
      </ColumnLayout>
    </Section>
  );
}

interface QuotaProps {
  kind: string;
  of: { used: number; limit: number };
  inWords?: (number: number) => string;
}

function Quota({ kind, of: { used, limit }, inWords = formatCount }: QuotaProps) {
  return (
    <ProgressBar
      label={kind}
      value={limit === 0 ? 100 : (100 * used) / limit}
      additionalInfo={text.settings.quotas.used(inWords(used), inWords(limit))}
    />
  );
}
