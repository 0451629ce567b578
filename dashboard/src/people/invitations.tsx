// The invitations that nobody has accepted yet: sending them again, and withdrawing them.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Invitation } from "../../../shared/api/invitations.ts";
import { client } from "../app/client.ts";
import { FailureNote } from "../app/failure.tsx";
import { notify } from "../app/notifications.ts";
import { invitations } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import type { Column } from "../resource/column.ts";
import { BothWays } from "../resource/both-ways.tsx";
import { Deletion } from "../resource/deletion.tsx";
import { ResourceTable } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { Wrapped } from "../resource/wrapped.tsx";
import { Role, roleInWords } from "./role.tsx";
import { readableEmail } from "./own-email.ts";

export function Invitations({ mayChange }: { mayChange: boolean }) {
  const say = text.people.invitations;
  const [withdrawing, setWithdrawing] = useState<Invitation>();
  const columns: [Column<Invitation>, ...Column<Invitation>[]] = [
    {
      id: "email",
      header: say.email,
      text: readableEmail,
      cell: ({ email, email_unicode }) => (
        <Wrapped>
          <BothWays ascii={email} unicode={email_unicode} />
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
    {
      id: "action",
      header: text.resource.list.actions,
      width: 220,
      cell: (invitation) =>
        mayChange && (
          <SpaceBetween direction="horizontal" size="s">
            <Resend invitation={invitation} />
            <Button
              variant="inline-link"
              wrapText={false}
              ariaLabel={text.resource.list.act(say.withdraw, readableEmail(invitation))}
              onClick={() => setWithdrawing(invitation)}
            >
              {say.withdraw}
            </Button>
          </SpaceBetween>
        ),
    },
  ];
  return (
    <>
      <ResourceTable title={say.title} description={say.about} list={invitations.list} columns={columns} empty={say.empty} />
      {withdrawing !== undefined && <Withdraw invitation={withdrawing} onDismiss={() => setWithdrawing(undefined)} />}
    </>
  );
}

function Resend({ invitation }: { invitation: Invitation }) {
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
    <Button
      variant="inline-link"
      wrapText={false}
      loading={resend.isPending}
      ariaLabel={text.resource.list.act(say.resend, email)}
      onClick={() => resend.mutate()}
    >
      {say.resend}
    </Button>
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
