// Asks before many records are deleted: how many, by typing the number, and whether instances' backups go, too.
import Alert from "@cloudscape-design/components/alert";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useId, useRef, useState } from "react";
import { BACKUP_NEEDS } from "../allowed/needs.ts";
import { May, useMay } from "../app/may.tsx";
import { text } from "../messages/text.ts";
import { useFocusFirst } from "../resource/page/use-focus-first.ts";
import type { DialogProps } from "./candidate.ts";
import { BulkDialog } from "./dialog.tsx";

interface Props extends DialogProps {
  /** What is preselected. */
  alsoBackups?: boolean;
}

export function DeleteDialog({ alsoBackups = false, ...props }: Props) {
  const say = text.bulk.delete;
  const [typed, setTyped] = useState("");
  const form = useId();
  const mayDeleteBackups = useMay()(...BACKUP_NEEDS.delete);
  const [withBackups, setWithBackups] = useState(alsoBackups);
  const count = props.selected.filter(({ exclusionReason }) => exclusionReason === undefined).length;
  const isInstances = props.kind === "instance";
  const deletesBackups = isInstances && withBackups && mayDeleteBackups;
  const options = isInstances && (
    <May needs={BACKUP_NEEDS.delete}>
      <Checkbox
        checked={withBackups}
        description={say.withBackupsAbout}
        nativeInputAttributes={{ form }}
        onChange={({ detail }) => setWithBackups(detail.checked)}
      >
        {say.withBackups}
      </Checkbox>
    </May>
  );
  return (
    <BulkDialog
      {...props}
      {...(isInstances && { parameters: { with_backups: deletesBackups } })}
      {...(deletesBackups && { words: say.effects })}
      options={options}
      disabled={typed.trim() !== String(count)}
    >
      {(confirm) => (
        <Alert type="warning">
          <TypedCount {...{ form, count, typed }} onType={setTyped} onSubmit={confirm} />
        </Alert>
      )}
    </BulkDialog>
  );
}

interface TypedCountProps {
  /** The ID of the form: the Enter key confirms in its fields, wherever they stand. */
  form: string;
  count: number;
  typed: string;
  onType: (typed: string) => void;
  onSubmit: () => void;
}

function TypedCount({ form: id, count, typed, onType, onSubmit }: TypedCountProps) {
  const form = useRef<HTMLFormElement>(null);
  useFocusFirst(form);
  return (
    <form
      id={id}
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <FormField label={text.bulk.delete.typeCount(count)}>
        <Input value={typed} inputMode="numeric" autoComplete={false} onChange={({ detail }) => onType(detail.value)} />
      </FormField>
      {/* A submit button lets Enter confirm at the checkbox, too. */}
      <button type="submit" hidden />
    </form>
  );
}
