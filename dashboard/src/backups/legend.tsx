// What the signs in a picture of backups mean.
import Box from "@cloudscape-design/components/box";
import type { Messages } from "../messages/en/index.ts";
import { text } from "../messages/text.ts";
import { Sign } from "./sign.tsx";

type Kind = keyof Messages["backups"]["strip"]["legend"];

export const Legend = ({ kinds }: { kinds: readonly Kind[] }) => (
  <Box variant="small">
    <ul className="legend">
      {kinds.map((kind) => (
        <li key={kind}>
          <b>
            <Sign of={kind} />
          </b>{" "}
          {text.backups.strip.legend[kind]}
        </li>
      ))}
    </ul>
  </Box>
);
