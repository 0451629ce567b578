// All API keys: who created them, their permissions and last use; revoking them.
import Box from "@cloudscape-design/components/box";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import type { Token } from "../../../shared/api/tokens.ts";
import { useNoteLeftOut } from "../app/left-out.ts";
import { type Need, useMissing } from "../app/may.tsx";
import { text } from "../messages/text.ts";
import { useIsRemoved } from "../operations/started-by.tsx";
import { CreateLink, ListPage, menuColumn } from "../resource/list/list-page.tsx";
import type { Column } from "../resource/list/column.ts";
import { RowMenu } from "../resource/list/row-menu.tsx";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { serviceNow } from "../session/clock.ts";
import { listTokens, narrowTokens } from "./filters.tsx";
import { Permissions, permissionsInWords } from "./permissions.tsx";
import { lazily } from "../app/lazily.tsx";

const RotateApiKey = lazily(async () => (await import("./rotate.tsx")).RotateApiKey);
const RevokeApiKey = lazily(async () => (await import("./revoke.tsx")).RevokeApiKey);

const NEEDS: readonly Need[] = ["admin"];

function columns(isRemoved: ReturnType<typeof useIsRemoved>): [Column<Token>, ...Column<Token>[]] {
  const say = text.tokens.columns;
  return [
    { id: "name", header: say.name, cell: ({ name }) => <Wrapped>{name}</Wrapped>, text: ({ name }) => name },
    {
      id: "value",
      header: say.key,
      text: ({ prefix, last4 }) => `${prefix}…${last4}`,
      cell: ({ prefix, last4 }) => (
        <code className="code">
          {prefix}…{last4}
        </code>
      ),
    },
    {
      id: "permissions",
      header: say.permissions,
      cell: (token) => (
        <>
          <Permissions of={token.permissions} />
          <Networks of={token} />
        </>
      ),
      text: permissionsInWords,
    },
    {
      id: "used",
      header: say.used,
      cell: (token) => <LastUsed token={token} />,
      text: ({ last_used_at }) => last_used_at ?? "",
    },
    {
      id: "expires",
      header: say.expires,
      cell: (token) => <Expires token={token} />,
      text: ({ expires_at }) => expires_at ?? "",
    },
    {
      id: "made",
      header: say.created,
      text: ({ created_at }) => created_at,
      cell: ({ created_at, created_by }) => (
        <>
          <Time at={created_at} />
          <Box variant="small" display="block">
            {text.tokens.createdBy(created_by.name)}
          </Box>
          {isRemoved(created_by) && (
            <Box variant="small" display="block">
              {text.operations.actorRemoved}
            </Box>
          )}
        </>
      ),
    },
  ];
}

export default function ApiKeys() {
  const say = text.tokens;
  const missing = useMissing()("admin");
  useNoteLeftOut(missing);
  const isRemoved = useIsRemoved();
  const [open, setOpen] = useState<{ act: string; token: Token }>();
  const close = () => setOpen(undefined);
  return (
    <ListPage
      title={say.title}
      description={say.about}
      list={listTokens}
      searchable
      narrowing={narrowTokens()}
      columns={[
        ...columns(isRemoved),
        menuColumn<Token>((token) => (
          <RowMenu label={say.actionsOf(token.name)} items={itemsOf(token)} onChoose={(act) => setOpen({ act, token })} />
        )),
      ]}
      add={<CreateLink to="/settings/api-keys/create">{say.create.title}</CreateLink>}
      empty={say.empty}
    >
      {open?.act === "rotate" && <RotateApiKey token={open.token} onDismiss={close} />}
      {open?.act === "revoke" && <RevokeApiKey token={open.token} onDismiss={close} />}
    </ListPage>
  );
}

/** A key is rotated once. */
function itemsOf({ replaced_by }: Token) {
  const { rotation, revocation } = text.tokens;
  const rotate = { id: "rotate", text: rotation.confirm, needs: NEEDS };
  const revoke = { id: "revoke", text: revocation.confirm, needs: NEEDS };
  return replaced_by === null ? [rotate, revoke] : [revoke];
}

/** An older service sends none. */
const Networks = ({ of: { allowed_ips = [] } }: { of: Partial<Token> }) =>
  allowed_ips.length > 0 && (
    <Box variant="small" display="block">
      <Wrapped>{text.tokens.onlyFrom(allowed_ips)}</Wrapped>
    </Box>
  );

function LastUsed({ token: { last_used_at, last_used_ip } }: { token: Token }) {
  return (
    <>
      <Time at={last_used_at} none={text.tokens.neverUsed} />
      {last_used_ip !== null && (
        <Box variant="small" display="block">
          {text.tokens.usedFrom(last_used_ip)}
        </Box>
      )}
    </>
  );
}

function Expires({ token: { expires_at, replaced_by } }: { token: Token }) {
  const say = text.tokens;
  if (expires_at !== null && Date.parse(expires_at) <= serviceNow())
    return <StatusIndicator type="error">{say.expired(<Time at={expires_at} />)}</StatusIndicator>;
  return (
    <>
      <Time at={expires_at} none={say.neverExpires} />
      {replaced_by !== null && (
        <Box variant="small" display="block">
          {say.replaced}
        </Box>
      )}
    </>
  );
}
