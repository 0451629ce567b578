// Which mails the user gets.
import Alert from "@cloudscape-design/components/alert";
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import type { DataOf } from "../../../shared/api/endpoint.ts";
import type { api } from "../../../shared/api/index.ts";
import { NOTIFIED, update } from "../../../shared/api/users.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { notify } from "../app/notifications.ts";
import { me, users } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { readableEmail } from "../people/own-email.ts";
import { Form } from "../resource/form/form.tsx";
import { useEditForm } from "../resource/form/use-edit-form.ts";
import { Section } from "../resource/page/section.tsx";

export function Notifications() {
  const say = text.settings.notifications;
  const identity = useQuery(me());
  const { user, permissions = [] } = identity.data?.data ?? {};
  return (
    <Section title={say.title} description={say.about}>
      {user != null ? (
        <NotificationsForm user={user} mayRead={permissions.includes("settings:read")} />
      ) : identity.error === null ? (
        <Spinner />
      ) : (
        <Failure error={identity.error} retry={() => void identity.refetch()} />
      )}
    </Section>
  );
}

type Me = DataOf<typeof api.auth.me>;

function NotificationsForm({ user, mayRead }: { user: NonNullable<Me["user"]>; mayRead: boolean }) {
  const say = text.settings.notifications;
  const saved = () => notify({ id: "notifications", type: "success", header: say.saved });
  const form = useEditForm({
    record: user,
    of: "notifications",
    question: users.self(user.id, mayRead),
    values: ({ notifications }: Pick<typeof user, "notifications">) => ({ email: notifications.email }),
    describe: ({ email }) => ({ [say.label]: say.choices[email].name }),
    schema: update().body,
    body: ({ email }) => ({ notifications: { email } }),
    send: (_changed, version, body) => client.users.update({ params: { id: user.id }, body, ...version }),
    unchanged: saved,
    done: saved,
  });
  return (
    <Form form={form} submit={say.save} boxed={false}>
      {user.email_status === "bouncing" && <Alert type="warning">{say.bouncing(readableEmail(user))}</Alert>}
      <FormField label={say.label} stretch>
        <RadioGroup
          value={form.values.email}
          items={NOTIFIED.map((value) => ({ value, label: say.choices[value].name, description: say.choices[value].about }))}
          onChange={({ detail }) => {
            const email = NOTIFIED.find((each) => each === detail.value);
            if (email !== undefined) form.set({ email });
          }}
        />
      </FormField>
    </Form>
  );
}
