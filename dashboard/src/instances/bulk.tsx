// What can be done with many instances at once.
import type { ListedInstance } from "../../../shared/api/instances.ts";
import { whyNot, whyNotEdit } from "../allowed/instances.ts";
import { client } from "../app/client.ts";
import { type Action, BulkMenu, type Kind } from "../bulk/menu.tsx";
import { text } from "../messages/text.ts";

const ACTIONS = ["start", "stop", "restart", "backup"] as const;

const LABELS: Kind<ListedInstance>["labels"] = {
  of: {
    get: (id) => client.instances.get({ params: { id } }),
    set: (id, labels, ifMatch) =>
      client.instances.update({ params: { id }, body: { labels }, ...(ifMatch !== undefined && { ifMatch }) }),
  },
  whyNot: whyNotEdit,
};

export function InstancesBulk({ selected, onDone }: { selected: readonly ListedInstance[]; onDone: () => void }) {
  const actions: Action<ListedInstance>[] = ACTIONS.map((action) => ({
    ...text.instances.bulk[action],
    whyNot: (instance) => whyNot(action, instance, instance.server ?? undefined),
    send: async (id, idempotencyKey) => {
      const { data: operation, rateLimit } = await client.instances.act({ params: { id }, body: { action }, idempotencyKey });
      return { operation, rateLimit };
    },
  }));
  const kind: Kind<ListedInstance> = {
    one: "instance",
    targetOf: ({ id, name }) => ({ id, name, href: `/instances/${id}` }),
    actions,
    labels: LABELS,
  };
  return <BulkMenu kind={kind} selected={selected} onDone={onDone} />;
}
