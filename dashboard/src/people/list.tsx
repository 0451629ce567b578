// Everybody who can sign in to the account: their roles, and removing them.
import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import type { AccountUser } from "../../../shared/api/users.ts";
import { lazily } from "../app/lazily.tsx";
import { useNoteLeftOut } from "../app/left-out.ts";
import { useMay, useMissing } from "../app/may.tsx";
import { users } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import type { Column } from "../resource/column.ts";
import { ListPage } from "../resource/list-page.tsx";
import { Invitations } from "./invitations.tsx";
import { useSession } from "../session/session.ts";
import { Time } from "../resource/time.tsx";
import { Wrapped } from "../resource/wrapped.tsx";
import { Role, roleInWords } from "./role.tsx";

const ChangeRole = lazily(async () => (await import("./change-role.tsx")).ChangeRole, "tokens");
const Invite = lazily(async () => (await import("./invite.tsx")).Invite, "tokens");
const RemoveFactors = lazily(async () => (await import("./remove-factors.tsx")).RemoveFactors);
const RemoveUser = lazily(async () => (await import("./remove.tsx")).RemoveUser);

type Act = "role" | "factors" | "remove";
type Open = { act: Act; user: AccountUser } | { act: "invite" };

function columns(own: string | undefined): [Column<AccountUser>, ...Column<AccountUser>[]] {
  const say = text.people.columns;
  return [
    {
      id: "name",
      header: say.name,
      text: ({ name, email }) => `${name} <${email}>`,
      cell: ({ id, name, email, email_status, second_factors, sso }) => (
        <>
          <Wrapped>{name}</Wrapped> {id === own && <Badge>{text.people.you}</Badge>}
          <Box variant="small" display="block">
            {email}
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
      cell: ({ last_sign_in_at }) => <Time at={last_sign_in_at} none={text.people.never} />,
    },
    { id: "added", header: say.added, text: ({ created_at }) => created_at, cell: ({ created_at }) => <Time at={created_at} /> },
  ];
}

/** A service from before there were second factors says nothing of them. */
const hasFactors = ({ second_factors: of }: Partial<AccountUser>): boolean => of != null && (of.passkeys > 0 || of.totp);

function Factors({ of }: { of: AccountUser["second_factors"] | undefined }) {
  if (of == null || !hasFactors({ second_factors: of })) return null;
  return <StatusIndicator type="success">{text.people.factors.has(of.passkeys, of.totp)}</StatusIndicator>;
}

export default function People() {
  const say = text.people;
  const [open, setOpen] = useState<Open>();
  const may = useMay();
  useNoteLeftOut(useMissing()("admin"));
  const own = useSession()?.user.id;
  const close = () => setOpen(undefined);
  const [isAdmin, isOwner] = [may("admin"), may("owner")];
  const mayChange = ({ role }: AccountUser): boolean => (role === "owner" ? isOwner : isAdmin);
  const actions: Column<AccountUser> = {
    id: "action",
    header: text.resource.list.actions,
    width: 200,
    cell: (user) =>
      mayChange(user) && (
        <SpaceBetween direction="horizontal" size="s">
          {(["role", ...(isOwner && user.id !== own && hasFactors(user) ? (["factors"] as const) : []), "remove"] as const).map(
            (act) => {
              const label = { role: say.role, factors: say.factors, remove: say.removal }[act].action;
              return (
                <Button
                  key={act}
                  variant="inline-link"
                  wrapText={false}
                  ariaLabel={text.resource.list.act(label, user.name)}
                  onClick={() => setOpen({ act, user })}
                >
                  {label}
                </Button>
              );
            },
          )}
        </SpaceBetween>
      ),
  };
  return (
    <ListPage
      title={say.title}
      description={say.about}
      list={users.list}
      columns={[...columns(own), actions]}
      empty={say.empty}
      add={
        isAdmin && (
          <Button variant="primary" onClick={() => setOpen({ act: "invite" })}>
            {say.invite.title}
          </Button>
        )
      }
    >
      <Invitations mayChange={isAdmin} />
      {open?.act === "invite" && <Invite mayMakeOwner={isOwner} onDismiss={close} />}
      {open?.act === "role" && <ChangeRole user={open.user} mayMakeOwner={isOwner} onDismiss={close} />}
      {open?.act === "factors" && <RemoveFactors user={open.user} onDismiss={close} />}
      {open?.act === "remove" && <RemoveUser user={open.user} onDismiss={close} />}
    </ListPage>
  );
}
