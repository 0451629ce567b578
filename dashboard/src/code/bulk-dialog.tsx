// Asks before the code of many instances is deployed, each its own, and whether their images are updated, too.
import Checkbox from "@cloudscape-design/components/checkbox";
import { useState } from "react";
import type { DialogProps } from "../bulk/candidate.ts";
import { BulkDialog } from "../bulk/dialog.tsx";
import { text } from "../messages/text.ts";

export function DeployDialog(props: DialogProps) {
  const say = text.code.deploy;
  const [chosen, setChosen] = useState({ rehearse: true, backup_first: true, update_image: false });
  const choices = [
    { name: "rehearse", label: say.rehearse, about: say.rehearseAbout },
    { name: "backup_first", label: say.backUp, about: say.backUpAbout },
    { name: "update_image", label: say.image, about: say.imageAbout },
  ] as const;
  return (
    <BulkDialog {...props} parameters={chosen}>
      {choices.map(({ name, label, about }) => (
        <Checkbox
          key={name}
          checked={chosen[name]}
          description={about}
          onChange={({ detail }) => setChosen({ ...chosen, [name]: detail.checked })}
        >
          {label}
        </Checkbox>
      ))}
    </BulkDialog>
  );
}
