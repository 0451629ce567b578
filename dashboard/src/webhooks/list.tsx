// All webhooks.
import type { Webhook } from "../../../shared/api/webhooks.ts";
import { Link } from "../app/link.tsx";
import { text } from "../messages/text.ts";
import type { Column } from "../resource/list/column.ts";
import { CreateLink, ListPage, menuColumn } from "../resource/list/list-page.tsx";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { listWebhooks, narrowWebhooks } from "./filters.tsx";
import { WebhookMenu } from "./menu.tsx";
import { WebhookStatus } from "./status.tsx";

function columns(): [Column<Webhook>, ...Column<Webhook>[]] {
  const say = text.webhooks.columns;
  return [
    {
      id: "name",
      header: say.name,
      cell: ({ id, name }) => (
        <Wrapped>
          <Link to={`/settings/webhooks/${id}`}>{name}</Link>
        </Wrapped>
      ),
      text: ({ name }) => name,
    },
    { id: "url", header: say.url, cell: ({ url }) => <Wrapped>{url}</Wrapped>, text: ({ url }) => url },
    {
      id: "events",
      header: say.events,
      cell: ({ events }) => <Wrapped>{events.join(", ")}</Wrapped>,
      text: ({ events }) => events.join(", "),
    },
    {
      id: "status",
      header: say.status,
      cell: ({ status }) => <WebhookStatus status={status} />,
      text: ({ status }) => text.webhooks.statuses[status],
    },
    {
      id: "last",
      header: say.last,
      cell: ({ last_delivery_at }) => <Time at={last_delivery_at} none={text.webhooks.detail.never} />,
      text: ({ last_delivery_at }) => last_delivery_at ?? "",
    },
    menuColumn((webhook) => <WebhookMenu webhook={webhook} />),
  ];
}

export default function Webhooks() {
  const say = text.webhooks;
  return (
    <ListPage
      title={say.title}
      description={say.about}
      list={listWebhooks}
      searchable
      narrowing={narrowWebhooks()}
      columns={columns()}
      add={<CreateLink to="/settings/webhooks/create">{say.create.title}</CreateLink>}
      empty={say.empty}
    />
  );
}
