// How a deploy is made: whether it is rehearsed and backed up first, and brings the newest images.
import Checkbox from "@cloudscape-design/components/checkbox";
import { text } from "../messages/text.ts";

export interface Choices {
  rehearse: boolean;
  backup_first: boolean;
  update_image: boolean;
}

/** The API's defaults. */
export const DEFAULT_CHOICES: Choices = { rehearse: true, backup_first: true, update_image: false };

interface Props {
  values: Choices;
  onChange: (changes: Partial<Choices>) => void;
  /** Whether there is something to rehearse. */
  rehearsable?: boolean;
}

export function ChoiceFields({ values, onChange, rehearsable = true }: Props) {
  const say = text.code.deploy;
  const choices = [
    ...(rehearsable ? [{ name: "rehearse", label: say.rehearse, about: say.rehearseAbout } as const] : []),
    { name: "backup_first", label: say.backUp, about: say.backUpAbout },
    { name: "update_image", label: say.image, about: say.imageAbout },
  ] as const;
  return choices.map(({ name, label, about }) => (
    <Checkbox
      key={name}
      checked={values[name]}
      description={about}
      onChange={({ detail }) => onChange({ [name]: detail.checked })}
    >
      {label}
    </Checkbox>
  ));
}
