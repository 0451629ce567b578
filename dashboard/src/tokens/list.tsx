// All API keys: whose they are, what they may do, when they were used; revoking them.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import type { Token } from "../../../shared/api/tokens.ts";
import { useFollow } from "../app/follow.ts";
import { Page } from "../app/page.tsx";
import { tokens } from "../app/queries.ts";
import { type Column, ResourceTable } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { Wrapped } from "../resource/wrapped.tsx";
import { Permissions } from "./permissions.tsx";
import { RevokeApiKey } from "./revoke.tsx";

const COLUMNS: [Column<Token>, ...Column<Token>[]] = [
  { id: "name", header: "Name", cell: ({ name }) => <Wrapped>{name}</Wrapped> },
  {
    id: "value",
    header: "Key",
    cell: ({ prefix, last4 }) => (
      <code className="code">
        {prefix}…{last4}
      </code>
    ),
  },
  { id: "permissions", header: "Permissions", cell: ({ permissions }) => <Permissions of={permissions} /> },
  { id: "used", header: "Last used", cell: (token) => <LastUsed token={token} /> },
  { id: "expires", header: "Expires", cell: ({ expires_at }) => <Expires at={expires_at} /> },
  {
    id: "made",
    header: "Created",
    cell: ({ created_at, created_by }) => (
      <>
        <Time at={created_at} />
        <Box variant="small" display="block">
          by {created_by.name}
        </Box>
      </>
    ),
  },
];

export default function ApiKeys() {
  const [revoking, setRevoking] = useState<Token>();
  const create = (
    <Button variant="primary" href="/settings/api-keys/create" onFollow={useFollow()}>
      Create API key
    </Button>
  );
  return (
    <Page title="API keys" headless>
      <ResourceTable
        main
        title="API keys"
        description="Use API keys to call the API from scripts and tools. Each key can do only what its permissions allow."
        list={tokens.list}
        columns={[
          ...COLUMNS,
          {
            id: "revoke",
            header: "Actions",
            width: 110,
            cell: (token) => (
              <Button variant="inline-link" ariaLabel={`Revoke ${token.name}`} onClick={() => setRevoking(token)}>
                Revoke
              </Button>
            ),
          },
        ]}
        actions={create}
        empty={
          <SpaceBetween size="s">
            <span>No API keys yet. Create one to call the API.</span>
            {create}
          </SpaceBetween>
        }
      />
      {revoking !== undefined && <RevokeApiKey token={revoking} onDismiss={() => setRevoking(undefined)} />}
    </Page>
  );
}

function LastUsed({ token: { last_used_at, last_used_ip } }: { token: Token }) {
  return (
    <>
      <Time at={last_used_at} none="Never" />
      {last_used_ip !== null && (
        <Box variant="small" display="block">
          from {last_used_ip}
        </Box>
      )}
    </>
  );
}

function Expires({ at }: { at: string | null }) {
  if (at !== null && Date.parse(at) <= Date.now())
    return (
      <StatusIndicator type="error">
        Expired <Time at={at} />
      </StatusIndicator>
    );
  return <Time at={at} none="Never" />;
}
