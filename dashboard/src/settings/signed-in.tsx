// The signed-in user, and when the session ends.
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import { text } from "../messages/text.ts";
import { Time } from "../resource/time.tsx";
import { useSession } from "../session/session.ts";

export function SignedIn() {
  const say = text.settings.session;
  const session = useSession();
  return (
    session !== undefined && (
      <Container header={<Header variant="h2">{say.title}</Header>}>
        <KeyValuePairs
          columns={3}
          minColumnWidth={220} // keeps an email address on one line
          items={[
            { label: say.name, value: session.user.name },
            { label: say.email, value: session.user.email },
            { label: say.ends, value: <Time at={session.expires_at} exact /> },
          ]}
        />
      </Container>
    )
  );
}
