// The user's open sessions, with from where and with what each was opened; ending them.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Spinner from "@cloudscape-design/components/spinner";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { SignedIn } from "../../../shared/api/auth.ts";
import { recognizeDevice } from "../../../shared/domain/device.ts";
import { SESSIONS_PER_USER } from "../../../shared/domain/limits.ts";
import { client } from "../app/client.ts";
import { Failure, FailureNote } from "../app/failure.tsx";
import { notify } from "../app/notifications.ts";
import { sessions } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Section } from "../resource/page/section.tsx";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";

export function Sessions() {
  const say = text.settings.sessions;
  const ending = useMutation({
    mutationFn: () => client.auth.endSessions(),
    onSuccess: ({ data }) => notify({ id: "sessions", type: "success", header: say.ended(data.ended) }),
    onError: notifyFailure,
  });
  const open = useQuery(sessions.list({ per_page: SESSIONS_PER_USER }));
  return (
    <Section
      title={say.title}
      description={say.about}
      actions={
        <Button loading={ending.isPending} onClick={() => ending.mutate()}>
          {say.endOthers}
        </Button>
      }
    >
      {open.data !== undefined ? (
        <ul className="sessions" aria-label={say.title}>
          {open.data.data.map((session) => (
            <Session key={session.id} session={session} />
          ))}
        </ul>
      ) : open.error === null ? (
        <Spinner />
      ) : (
        <Failure error={open.error} retry={() => void open.refetch()} />
      )}
    </Section>
  );
}

function Session({ session }: { session: SignedIn }) {
  const say = text.settings.sessions;
  const { user_agent, ip_address, created_at, current } = session;
  const device = user_agent === null ? undefined : recognizeDevice(user_agent);
  return (
    <li>
      <div>
        <div title={user_agent ?? undefined}>
          <Wrapped>{device === undefined ? (user_agent ?? say.unknown) : say.device(device)}</Wrapped>
        </div>
        <Box variant="small" display="block">
          {ip_address ?? say.unknown} · <Time at={created_at} />
        </Box>
      </div>
      {current ? <StatusIndicator type="success">{say.current}</StatusIndicator> : <End session={session} />}
    </li>
  );
}

const notifyFailure = (error: Error): void =>
  notify({ id: "sessions", type: "error", header: text.settings.sessions.notEnded, content: <FailureNote error={error} /> });

function End({ session: { id, ip_address } }: { session: SignedIn }) {
  const say = text.settings.sessions;
  const ending = useMutation({
    mutationFn: () => client.auth.endSession({ params: { id } }),
    onSuccess: () => notify({ id: "sessions", type: "success", header: say.ended(1) }),
    onError: notifyFailure,
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
