// The invitations that nobody has accepted yet: sending them again, and withdrawing them.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Invitation } from "../../../shared/api/invitations.ts";
import { client } from "../app/client.ts";
import { FailureNote } from "../app/failure.tsx";
import type { Need } from "../app/may.tsx";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import type { Column } from "../resource/list/column.ts";
import { AsciiAndUnicode } from "../resource/words/ascii-and-unicode.tsx";
import { Deletion } from "../resource/dialog/deletion.tsx";
import { ListFilters } from "../resource/list/list-filters.tsx";
import { menuColumn } from "../resource/list/list-page.tsx";
import { RowMenu } from "../resource/list/row-menu.tsx";
import { ResourceTable } from "../resource/list/table.tsx";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { listInvitations, narrowInvitations } from "./invitation-filters.tsx";
import { Role, roleInWords } from "./role.tsx";
import { readableEmail } from "./own-email.ts";

const NEEDS: readonly Need[] = ["admin"];

export function Invitations() {
  const say = text.people.invitations;
  const [withdrawing, setWithdrawing] = useState<Invitation>();
  const columns: [Column<Invitation>, ...Column<Invitation>[]] = [
    {
      id: "email",
      header: say.email,
      text: readableEmail,
      cell: ({ email, email_unicode }) => (
        <Wrapped>
          <AsciiAndUnicode ascii={email} unicode={email_unicode} />
        </Wrapped>
      ),
    },
    { id: "role", header: text.people.columns.role, text: roleInWords, cell: (invitation) => <Role of={invitation} /> },
    { id: "by", header: say.by, text: ({ invited_by }) => invited_by.name, cell: ({ invited_by }) => invited_by.name },
    {
      id: "expires",
      header: say.expires,
      text: ({ expires_at }) => expires_at,
      cell: ({ expires_at }) => <Time at={expires_at} />,
    },
    menuColumn((invitation) => <InvitationMenu invitation={invitation} onWithdraw={() => setWithdrawing(invitation)} />),
  ];
  return (
    <>
      <ResourceTable
        title={say.title}
        description={say.about}
        list={listInvitations}
        prefix="invitations"
        searchable
        Filters={ListFilters}
        narrowing={narrowInvitations()}
        columns={columns}
        nameOf={readableEmail}
        empty={say.empty}
      />
      {withdrawing !== undefined && <Withdraw invitation={withdrawing} onDismiss={() => setWithdrawing(undefined)} />}
    </>
  );
}

function InvitationMenu({ invitation, onWithdraw }: { invitation: Invitation; onWithdraw: () => void }) {
  const { id } = invitation;
  const email = readableEmail(invitation);
  const say = text.people.invitations;
  const [key, setKey] = useState(() => crypto.randomUUID());
  const resend = useMutation({
    mutationFn: () => client.invitations.resend({ params: { id }, body: {}, idempotencyKey: key }),
    onSuccess: () => {
      setKey(crypto.randomUUID());
      notify({ id, type: "success", header: text.people.invite.sent(email) });
    },
    onError: (error) => notify({ id, type: "error", header: say.notSent(email), content: <FailureNote error={error} /> }),
  });
  return (
    <RowMenu
      label={text.resource.list.actionsOn(email)}
      items={[
        { id: "resend", text: say.resend, needs: NEEDS },
        { id: "withdraw", text: say.withdraw, needs: NEEDS },
      ]}
      onChoose={(id) => (id === "resend" ? resend.mutate() : onWithdraw())}
    />
  );
}

function Withdraw({ invitation, onDismiss }: { invitation: Invitation; onDismiss: () => void }) {
  const { id } = invitation;
  const email = readableEmail(invitation);
  const say = text.people.invitations;
  return (
    <Deletion
      of={id}
      title={say.withdrawTitle(email)}
      confirm={say.withdraw}
      send={() => client.invitations.delete({ params: { id } })}
      onDeleted={() => {
        notify({ id, type: "success", header: say.withdrawn(email) });
        onDismiss();
      }}
      onDismiss={onDismiss}
    >
      {say.withdrawAbout(email)}
    </Deletion>
  );
}
