// Shows the administrator's password after an instance was created, if the service generated one, before the user continues.
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import { useEffect } from "react";
import { useNavigate } from "react-router";
import type { Instance } from "../../../shared/api/instances.ts";
import { text } from "../messages/text.ts";
import { Copyable } from "../resource/words/copyable.tsx";
import { SecretOnce } from "../resource/dialog/secret-once.tsx";

export interface CreatedInstance extends Instance {
  admin_password?: string | undefined;
}

export function AfterCreation({ created: { id, name, admin_email, admin_password } }: { created: CreatedInstance }) {
  const navigate = useNavigate();
  useEffect(() => {
    if (admin_password === undefined) void navigate(`/instances/${id}`);
  }, [admin_password, id, navigate]);
  return (
    admin_password !== undefined && (
      <SecretOnce
        title={text.instances.form.installing(name)}
        valueName={text.instances.copied.adminPassword}
        value={admin_password}
        onStored={() => void navigate(`/instances/${id}`)}
      >
        <KeyValuePairs
          items={[
            { label: text.instances.form.login, value: <Copyable value={admin_email} valueName={text.instances.copied.login} /> },
          ]}
        />
      </SecretOnce>
    )
  );
}
