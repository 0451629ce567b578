// What can be done with many servers at once.
import type { ListedServer } from "../../../shared/api/servers.ts";
import { whyNotRename } from "../allowed/servers.ts";
import { client } from "../app/client.ts";
import { BulkMenu, type Kind } from "../bulk/menu.tsx";

const SERVERS: Kind<ListedServer> = {
  one: "server",
  targetOf: ({ id, name }) => ({ id, name, href: `/servers/${id}` }),
  actions: [],
  labels: {
    of: {
      get: (id) => client.servers.get({ params: { id } }),
      set: (id, labels, ifMatch) =>
        client.servers.update({ params: { id }, body: { labels }, ...(ifMatch !== undefined && { ifMatch }) }),
    },
    whyNot: whyNotRename,
  },
};

export const ServersBulk = ({ selected, onDone }: { selected: readonly ListedServer[]; onDone: () => void }) => (
  <BulkMenu kind={SERVERS} selected={selected} onDone={onDone} />
);
