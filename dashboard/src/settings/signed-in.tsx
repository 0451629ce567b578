// The signed-in user, and when the session ends.
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import { Time } from "../resource/time.tsx";
import { useSession } from "../session/session.ts";

export function SignedIn() {
  const session = useSession();
  return (
    session !== undefined && (
      <Container header={<Header variant="h2">Your session</Header>}>
        <KeyValuePairs
          columns={3}
          minColumnWidth={220} // keeps an email address on one line
          items={[
            { label: "Name", value: session.user.name },
            { label: "Email", value: session.user.email },
            { label: "Session ends", value: <Time at={session.expires_at} exact /> },
          ]}
        />
      </Container>
    )
  );
}
