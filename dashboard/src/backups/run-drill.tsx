// The dialog that runs a restore drill of a backup.
import { useQuery } from "@tanstack/react-query";
import { drill, type Backup } from "../../../shared/api/backups.ts";
import { id as idField } from "../../../shared/api/fields.ts";
import { client } from "../app/client.ts";
import { instances } from "../app/queries.ts";
import { isMissing } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { Forecast } from "../resource/dialog/forecast.tsx";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { textOrUndefined, useForm } from "../resource/form/use-form.ts";
import { ServerField, useActiveServers } from "../servers/server-field.tsx";
import { backupTime } from "./words.ts";

const { body } = drill();

interface Props {
  backup: Backup;
  onDismiss: () => void;
}

export function RunDrill({ backup, onDismiss }: Props) {
  const say = text.backupDialogs.drill;
  const { instance_id } = backup;
  const source = useQuery({
    ...instances.one(instance_id ?? ""),
    enabled: ({ state }) => instance_id !== null && !isMissing(state.error),
  });
  const deleted = instance_id === null || (source.data === undefined && isMissing(source.error));
  const form = useForm({
    of: backup.id,
    initial: { server_id: "" },
    schema: deleted ? body.extend({ server_id: idField("server") }) : body,
    body: ({ server_id }) => ({ server_id: textOrUndefined(server_id) }),
    send: (body, idempotencyKey) => client.backups.drill({ params: { id: backup.id }, body, idempotencyKey }),
    done: onDismiss,
  });
  const server_id = textOrUndefined(form.values.server_id);
  return (
    <FormDialog title={say.runTitle(backup, backupTime(backup))} form={form} submit={say.run} onDismiss={onDismiss}>
      <ServerField
        only={deleted}
        label={say.server}
        placeholder={deleted ? say.chooseServer : say.itsServer}
        {...(deleted && { description: say.serverAbout })}
        pages={useActiveServers()}
        chosen={form.values.server_id}
        error={form.error("server_id")}
        onChange={(server_id) => form.set({ server_id })}
      />
      {(server_id !== undefined || !deleted) && (
        <Forecast
          rehearse={() => client.backups.drill.dryRun({ params: { id: backup.id }, body: { server_id } })}
          of={[backup.id, server_id]}
          returns={false}
          words={{ backup_drilled: say.about }}
        />
      )}
    </FormDialog>
  );
}
