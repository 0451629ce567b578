// The dialog with the preferences of a list.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Modal from "@cloudscape-design/components/modal";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { text } from "../../messages/text.ts";
import { PAGE_SIZES, type Preferences } from "./use-preferences.ts";

interface Props {
  /** The list's title: "Instances". */
  title: string;
  perPage: number;
  /** All but the first, which is always shown. */
  columns: readonly { id: string; header: string; isVisible: boolean }[];
  preferences: Preferences;
  onSave: (next: Preferences) => void;
  onDismiss: () => void;
}

export function PreferencesDialog({ title, perPage, columns, preferences, onSave, onDismiss }: Props) {
  const say = text.resource.preferences;
  const [next, setNext] = useState(preferences);
  const chosen = next.perPage ?? perPage;
  const sizeOption = (size: number) => ({ value: String(size), label: say.perPage(size) });
  return (
    <Modal
      visible
      header={say.title(title)}
      onDismiss={onDismiss}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onDismiss}>
              {text.resource.form.cancel}
            </Button>
            <Button variant="primary" onClick={() => onSave(next)}>
              {say.save}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="l">
        <FormField label={say.pageSize}>
          <Select
            options={PAGE_SIZES.map(sizeOption)}
            selectedOption={sizeOption(chosen)}
            onChange={({ detail }) =>
              setNext({ ...next, perPage: PAGE_SIZES.find((size) => String(size) === detail.selectedOption.value) })
            }
          />
        </FormField>
        <FormField label={say.columns}>
          {columns.map(({ id, header, isVisible }) => (
            <Checkbox
              key={id}
              checked={next.columns?.[id] ?? isVisible}
              onChange={({ detail }) => setNext({ ...next, columns: { ...next.columns, [id]: detail.checked } })}
            >
              {header}
            </Checkbox>
          ))}
        </FormField>
        <FormField label={say.density}>
          <Checkbox checked={next.compact ?? false} onChange={({ detail }) => setNext({ ...next, compact: detail.checked })}>
            {say.compact}
          </Checkbox>
        </FormField>
      </SpaceBetween>
    </Modal>
  );
}
