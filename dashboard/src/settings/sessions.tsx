// The user's open sessions, with from where and with what each was opened; ending them.
import Button from "@cloudscape-design/components/button";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMutation } from "@tanstack/react-query";
import type { SignedIn } from "../../../shared/api/auth.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { notify } from "../app/notifications.ts";
import { sessions } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import type { Column } from "../resource/column.ts";
import { ResourceTable } from "../resource/table.tsx";
import { Time } from "../resource/time.tsx";
import { Wrapped } from "../resource/wrapped.tsx";

export function Sessions() {
  const say = text.settings.sessions;
  const ending = useMutation({
    mutationFn: () => client.auth.endSessions(),
    onSuccess: ({ data }) => notify({ id: "sessions", type: "success", header: say.ended(data.ended) }),
    onError: tellFailure,
  });
  const columns: [Column<SignedIn>, ...Column<SignedIn>[]] = [
    {
      id: "device",
      header: say.device,
      text: ({ user_agent }) => user_agent ?? "",
      cell: ({ user_agent }) => <Wrapped>{user_agent ?? say.unknown}</Wrapped>,
    },
    {
      id: "address",
      header: say.address,
      text: ({ ip_address }) => ip_address ?? "",
      cell: ({ ip_address }) => ip_address ?? say.unknown,
    },
    { id: "since", header: say.since, text: ({ created_at }) => created_at, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      id: "action",
      header: text.resource.list.actions,
      width: 150,
      cell: (session) =>
        session.current ? <StatusIndicator type="success">{say.current}</StatusIndicator> : <End session={session} />,
    },
  ];
  return (
    <ResourceTable
      title={say.title}
      description={say.about}
      list={sessions.list}
      columns={columns}
      empty={say.empty}
      actions={
        <Button loading={ending.isPending} onClick={() => ending.mutate()}>
          {say.endOthers}
        </Button>
      }
    />
  );
}

const tellFailure = (error: Error): void =>
  notify({ id: "sessions", type: "error", header: text.settings.sessions.notEnded, content: <Failure error={error} /> });

function End({ session: { id, ip_address } }: { session: SignedIn }) {
  const say = text.settings.sessions;
  const ending = useMutation({
    mutationFn: () => client.auth.endSession({ params: { id } }),
    onSuccess: () => notify({ id: "sessions", type: "success", header: say.ended(1) }),
    onError: tellFailure,
  });
  return (
    <Button
      variant="inline-link"
      wrapText={false}
      loading={ending.isPending}
      ariaLabel={text.resource.list.act(say.end, ip_address ?? id)}
      onClick={() => ending.mutate()}
    >
      {say.end}
    </Button>
  );
}
