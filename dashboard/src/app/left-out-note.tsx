// Says on a page that leaves out actions what they need, and who can give it.
import Box from "@cloudscape-design/components/box";
import Popover from "@cloudscape-design/components/popover";
import { text } from "../messages/text.ts";
import { missingInWords } from "./words.ts";

export function LeftOutNote({ needs }: { needs: readonly string[] }) {
  const say = text.app.missing;
  return (
    <Box variant="small">
      <Popover
        header={say.title}
        size="large"
        triggerType="text"
        dismissAriaLabel={text.app.permissions.close}
        content={needs.map((need) => (
          <p key={need}>{missingInWords(need)}</p>
        ))}
      >
        {say.leftOut}
      </Popover>
    </Box>
  );
}
