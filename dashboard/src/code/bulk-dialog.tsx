// Asks before the code of many instances is deployed, each its own, and whether their images are updated, too.
import { useState } from "react";
import type { DialogProps } from "../bulk/candidate.ts";
import { BulkDialog } from "../bulk/dialog.tsx";
import { ChoiceFields, DEFAULT_CHOICES } from "./choices.tsx";

export function DeployDialog(props: DialogProps) {
  const [chosen, setChosen] = useState(DEFAULT_CHOICES);
  return (
    <BulkDialog {...props} parameters={{ ...chosen }}>
      <ChoiceFields values={chosen} onChange={(news) => setChosen({ ...chosen, ...news })} />
    </BulkDialog>
  );
}
