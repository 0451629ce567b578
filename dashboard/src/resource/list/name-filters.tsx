// The dialog that gives the filters of a list a name.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import { useState } from "react";
import { text } from "../../messages/text.ts";

const NAME_MAX = 60;

export function NameFilters({ onName, onDismiss }: { onName: (name: string) => void; onDismiss: () => void }) {
  const say = text.resource.find.saved;
  const [name, setName] = useState("");
  return (
    <Modal visible header={say.saveTitle} onDismiss={onDismiss}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== "") onName(name.trim().slice(0, NAME_MAX));
        }}
      >
        <FormField label={say.name} description={say.about}>
          <Input autoFocus value={name} onChange={({ detail }) => setName(detail.value)} />
        </FormField>
        <Box float="right" margin={{ top: "m" }}>
          <Button variant="primary" formAction="submit" disabled={name.trim() === ""}>
            {say.submit}
          </Button>
        </Box>
      </form>
    </Modal>
  );
}
