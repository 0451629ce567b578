// What a term of the page means, beside it.
import Popover from "@cloudscape-design/components/popover";
import type { ReactNode } from "react";
import { text } from "../../messages/text.ts";

export function Help({ about, children }: { about: string; children: ReactNode }) {
  return (
    <Popover
      header={about}
      content={children}
      dismissAriaLabel={text.resource.help.close}
      triggerType="text-inline"
      triggerAriaLabel={text.resource.help.about(about)}
      size="large"
    >
      {text.resource.help.info}
    </Popover>
  );
}
