// Everybody who can sign in to the account: their roles, and removing them.
import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import type { AccountUser } from "../../../shared/api/users.ts";
import { lazily } from "../app/lazily.tsx";
import { useNoteLeftOut } from "../app/left-out.ts";
import { type Need, useMay, useMissing } from "../app/may.tsx";
import { text } from "../messages/text.ts";
import { AsciiAndUnicode } from "../resource/words/ascii-and-unicode.tsx";
import type { Column } from "../resource/list/column.ts";
import { ListPage, menuColumn } from "../resource/list/list-page.tsx";
import { RowMenu } from "../resource/list/row-menu.tsx";
import { hasFactors, listUsers, narrowUsers, showsSignIns } from "./filters.tsx";
import { Invitations } from "./invitations.tsx";
import { useSession } from "../session/session.ts";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { Role, roleInWords } from "./role.tsx";

const ChangeRole = lazily(async () => (await import("./change-role.tsx")).ChangeRole, "tokens");
const Invite = lazily(async () => (await import("./invite.tsx")).Invite, "tokens");
const RemoveFactors = lazily(async () => (await import("./remove-factors.tsx")).RemoveFactors);
const RemoveUser = lazily(async () => (await import("./remove.tsx")).RemoveUser);

const NEEDS: readonly Need[] = ["admin"];

type Open = { act: string; user: AccountUser } | { act: "invite" };

function columns(ownId: string | undefined): [Column<AccountUser>, ...Column<AccountUser>[]] {
  const say = text.people.columns;
  return [
    {
      id: "name",
      header: say.name,
      text: ({ name, email }) => `${name} <${email}>`,
      cell: ({ id, name, email, email_unicode, email_status, second_factors, sso }) => (
        <>
          <Wrapped>{name}</Wrapped> {id === ownId && <Badge>{text.people.you}</Badge>}
          <Box variant="small" display="block">
            <AsciiAndUnicode ascii={email} unicode={email_unicode} />
          </Box>
          <Factors of={second_factors} />
          {sso && <StatusIndicator type="success">{text.people.sso}</StatusIndicator>}
          {email_status === "bouncing" && <StatusIndicator type="warning">{text.people.bouncing}</StatusIndicator>}
        </>
      ),
    },
    { id: "role", header: say.role, text: roleInWords, cell: (user) => <Role of={user} /> },
    {
      id: "sign-in",
      header: say.lastSignIn,
      text: ({ last_sign_in_at }) => last_sign_in_at ?? "",
      cell: ({ last_sign_in_at, ...user }) => (
        <Time at={last_sign_in_at} {...(showsSignIns(user) && { none: text.people.never })} />
      ),
    },
    { id: "added", header: say.added, text: ({ created_at }) => created_at, cell: ({ created_at }) => <Time at={created_at} /> },
  ];
}

function Factors({ of }: { of: AccountUser["second_factors"] | undefined }) {
  if (of == null || !hasFactors({ second_factors: of })) return null;
  return <StatusIndicator type="success">{text.people.factors.has(of.passkeys, of.totp)}</StatusIndicator>;
}

export default function People() {
  const say = text.people;
  const [open, setOpen] = useState<Open>();
  const may = useMay();
  useNoteLeftOut(useMissing()("admin"));
  const ownId = useSession()?.user.id;
  const close = () => setOpen(undefined);
  const [isAdmin, isOwner] = [may("admin"), may("owner")];
  const mayChange = ({ role }: AccountUser): boolean => (role === "owner" ? isOwner : isAdmin);
  const itemsOf = (user: AccountUser) =>
    mayChange(user)
      ? (["role", ...(isOwner && user.id !== ownId && hasFactors(user) ? (["factors"] as const) : []), "remove"] as const).map(
          (id) => ({ id, text: { role: say.role, factors: say.factors, remove: say.removal }[id].action, needs: NEEDS }),
        )
      : [];
  return (
    <ListPage
      title={say.title}
      description={say.about}
      list={listUsers}
      searchable
      narrowing={narrowUsers(isAdmin)}
      columns={[
        ...columns(ownId),
        menuColumn<AccountUser>((user) => (
          <RowMenu label={say.actionsOf(user.name)} items={itemsOf(user)} onChoose={(act) => setOpen({ act, user })} />
        )),
      ]}
      empty={say.empty}
      add={
        isAdmin && (
          <Button variant="primary" onClick={() => setOpen({ act: "invite" })}>
            {say.invite.title}
          </Button>
        )
      }
    >
      <Invitations />
      {open?.act === "invite" && <Invite mayMakeOwner={isOwner} onDismiss={close} />}
      {open?.act === "role" && <ChangeRole user={open.user} mayMakeOwner={isOwner} onDismiss={close} />}
      {open?.act === "factors" && <RemoveFactors user={open.user} onDismiss={close} />}
      {open?.act === "remove" && <RemoveUser user={open.user} onDismiss={close} />}
    </ListPage>
  );
}
