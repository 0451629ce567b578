// What can be done with many servers at once.
import type { ListedServer } from "../../../shared/api/servers.ts";
import { whyNotAct, whyNotRename } from "../allowed/servers.ts";
import { SERVER_NEEDS } from "../allowed/needs.ts";
import { BulkMenu, type Kind } from "../bulk/menu.tsx";
import type { SelectedProps } from "../resource/list/use-selection.ts";

/** Returns why the server cannot be acted on, as if no operation held it. */
const whyNeverActed = (server: ListedServer): string | undefined => whyNotAct({ ...server, operation_id: null });

const SERVERS: Kind<ListedServer> = {
  one: "server",
  needs: SERVER_NEEDS,
  nameOf: ({ name }) => name,
  actions: [
    ["reboot", whyNeverActed],
    ["update", whyNeverActed],
    ["set_labels", whyNotRename],
  ],
};

export const ServersBulk = (props: SelectedProps<ListedServer>) => <BulkMenu kind={SERVERS} {...props} />;
