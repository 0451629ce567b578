// Replaces an API key by a new one, whose value is shown only once. Both work for the chosen time.
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Token } from "../../../shared/api/tokens.ts";
import { TOKEN_OVERLAP_HOURS } from "../../../shared/domain/limits.ts";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { Dialog } from "../resource/dialog/dialog.tsx";
import { useIdempotencyKey } from "../resource/form/use-form.ts";
import { SecretOnce } from "../resource/dialog/secret-once.tsx";

const OVERLAPS = [0, 1, TOKEN_OVERLAP_HOURS.usual, TOKEN_OVERLAP_HOURS.max];

export function RotateApiKey({ token, onDismiss }: { token: Token; onDismiss: () => void }) {
  const { id, name, prefix, last4 } = token;
  const say = text.tokens.rotation;
  const [hours, setHours] = useState<number>(TOKEN_OVERLAP_HOURS.usual);
  const keyFor = useIdempotencyKey();
  const body = { overlap_hours: hours };
  const send = () => client.tokens.rotate({ params: { id }, body, idempotencyKey: keyFor(body) });
  const rotation = useMutation({ mutationFn: send });
  const options = OVERLAPS.map((each) => ({ value: String(each), label: say.overlaps(each) }));
  if (rotation.data !== undefined)
    return (
      <SecretOnce
        title={text.tokens.create.created(name)}
        valueName={text.tokens.one}
        value={rotation.data.data.token}
        onStored={onDismiss}
      />
    );
  return (
    <Dialog
      title={say.title(name)}
      confirm={say.confirm}
      pending={rotation.isPending}
      error={rotation.error}
      send={send}
      onConfirm={() => rotation.mutate()}
      onDismiss={onDismiss}
    >
      {say.about(name, `${prefix}…${last4}`)}
      <FormField label={say.overlap} description={say.overlapAbout}>
        <Select
          options={options}
          selectedOption={options.find(({ value }) => value === String(hours)) ?? null}
          onChange={({ detail: { selectedOption } }) => setHours(Number(selectedOption.value))}
        />
      </FormField>
    </Dialog>
  );
}
