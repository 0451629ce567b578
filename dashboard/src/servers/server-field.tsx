// Chooses one of the active servers.
import type { ReactNode } from "react";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { servers } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Chooser } from "../resource/form/chooser.tsx";
import { type Pages, usePages } from "../resource/page/use-pages.ts";
import { specsInWords } from "./specs.ts";

interface Props {
  label: ReactNode;
  description?: string;
  placeholder: string;
  pages: Pages<ListedServer>;
  chosen: string;
  error: string | undefined;
  onChange: (id: string) => void;
  /** If there is one, it is chosen. */
  only?: boolean;
}

export const useActiveServers = (): Pages<ListedServer> => usePages(servers.list, { status: "active" });

export function ServerField(props: Props) {
  return (
    <Chooser
      {...props}
      optionOf={({ name, region, specs }) => ({ label: name, description: `${region}, ${specsInWords(specs)}` })}
      plural={text.servers.chooser.plural}
      empty={text.servers.chooser.none}
    />
  );
}
