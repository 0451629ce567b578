// The signed-in user, what they may do, and when the session ends.
import Button from "@cloudscape-design/components/button";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { lazily } from "../app/lazily.tsx";
import { overview } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { useOwnEmail } from "../people/own-email.ts";
import { Role } from "../people/role.tsx";
import { Section } from "../resource/page/section.tsx";
import { AsciiAndUnicode } from "../resource/words/ascii-and-unicode.tsx";
import { Time } from "../resource/words/time.tsx";
import { useSession } from "../session/session.ts";

const ChangeName = lazily(async () => (await import("./change-name.tsx")).ChangeName);

export function SignedIn() {
  const say = text.settings.session;
  const session = useSession();
  const email = useOwnEmail();
  const [changing, setChanging] = useState(false);
  const { role, permissions } = useQuery({ ...overview(), enabled: false }).data?.data ?? {};
  const grant = role == null || permissions === undefined ? undefined : { role, permissions };
  return (
    session !== undefined && (
      <Section title={say.title} actions={<Button onClick={() => setChanging(true)}>{say.changeName}</Button>}>
        <KeyValuePairs
          columns={4}
          minColumnWidth={220} // keeps an email address on one line
          items={[
            { label: say.name, value: session.user.name },
            { label: say.email, value: <AsciiAndUnicode {...email} /> },
            { label: say.ends, value: <Time at={session.expires_at} exact /> },
            { label: say.role, value: grant === undefined ? "–" : <Role of={grant} /> },
          ]}
        />
        {changing && <ChangeName user={session.user} onDismiss={() => setChanging(false)} />}
      </Section>
    )
  );
}
