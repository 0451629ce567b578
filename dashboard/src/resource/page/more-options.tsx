// The part of a form that most users leave as it is.
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type ReactNode, useState } from "react";
import { text } from "../../messages/text.ts";

/** Opens automatically if something in it is invalid. */
export function MoreOptions({ wrong, children }: { wrong: boolean; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <ExpandableSection
      headerText={text.resource.form.more}
      expanded={open || wrong}
      onChange={({ detail }) => setOpen(detail.expanded)}
    >
      <SpaceBetween size="l">{children}</SpaceBetween>
    </ExpandableSection>
  );
}
