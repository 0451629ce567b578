// All API keys: who created them, their permissions and last use; revoking them.
import Box from "@cloudscape-design/components/box";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import type { Token } from "../../../shared/api/tokens.ts";
import { tokens } from "../app/queries.ts";
import { actionColumn, CreateLink, ListPage } from "../resource/list-page.tsx";
import type { Column } from "../resource/table.tsx";
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
  return (
    <ListPage
      title="API keys"
      description="Use API keys to call the API from scripts and tools. Each key can do only what its permissions allow."
      list={tokens.list}
      columns={[...COLUMNS, actionColumn<Token>("Revoke", setRevoking)]}
      add={<CreateLink to="/settings/api-keys/create">Create API key</CreateLink>}
      empty="No API keys yet. Create one to call the API."
    >
      {revoking !== undefined && <RevokeApiKey token={revoking} onDismiss={() => setRevoking(undefined)} />}
    </ListPage>
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
