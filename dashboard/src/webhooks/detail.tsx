// One webhook: how its deliveries go; tests, redeliveries, its secret.
import Alert from "@cloudscape-design/components/alert";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import type { Delivery, Webhook } from "../../../shared/api/webhooks.ts";
import { client } from "../app/client.ts";
import { Failure, FailureNote } from "../app/failure.tsx";
import { lazily } from "../app/lazily.tsx";
import { May, type Need } from "../app/may.tsx";
import { notify } from "../app/notifications.ts";
import { Page } from "../app/page.tsx";
import { webhooks } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import type { Column } from "../resource/list/column.ts";
import { Copyable } from "../resource/words/copyable.tsx";
import { ListFilters } from "../resource/list/list-filters.tsx";
import { menuColumn } from "../resource/list/list-page.tsx";
import { Loaded } from "../resource/page/loaded.tsx";
import { PageActions } from "../resource/page/page-actions.tsx";
import { Section } from "../resource/page/section.tsx";
import { RowMenu } from "../resource/list/row-menu.tsx";
import { SecretOnce } from "../resource/dialog/secret-once.tsx";
import { sentenceOf } from "../resource/words/sentence.ts";
import { ResourceTable } from "../resource/list/table.tsx";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { Calls } from "./calls.tsx";
import { NARROW_DELIVERIES } from "./delivery-filters.tsx";
import { DeliveryStatus, WebhookStatus } from "./status.tsx";

const EditWebhook = lazily(async () => (await import("./edit.tsx")).EditWebhook);
const DeleteWebhook = lazily(async () => (await import("./delete.tsx")).DeleteWebhook);

const LIST = "/settings/webhooks";
const above = () => [{ text: text.webhooks.title, href: LIST }];

export default function WebhookDetail() {
  const { id = "" } = useParams();
  return (
    <Loaded kind={text.webhooks.one} above={above()} question={webhooks.one(id)}>
      {(webhook) => <Shown key={webhook.id} webhook={webhook} />}
    </Loaded>
  );
}

/** A request of a button, after which the page shows what there is now. */
function useSend<T>(send: (key: string) => Promise<T>, done: (result: T) => void, failed?: (error: Error) => void) {
  const queryClient = useQueryClient();
  const [key, setKey] = useState(() => crypto.randomUUID());
  return useMutation({
    mutationFn: () => send(key),
    onSuccess: (result) => {
      setKey(crypto.randomUUID());
      done(result);
    },
    ...(failed !== undefined && { onError: failed }),
    // The webhooks are fetched again after an error, too: somebody else may have changed this one.
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["webhooks"] }),
  });
}

function Shown({ webhook }: { webhook: Webhook }) {
  const { name, disabled_reason } = webhook;
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const acts = useActs(webhook, setDialog);
  return (
    <Page title={name} above={above()} actions={acts.buttons}>
      {acts.failure}
      {acts.rotated}
      {disabled_reason !== null && <Alert type="warning">{reasonOf(disabled_reason)}</Alert>}
      <Facts webhook={webhook} />
      <Deliveries webhook={webhook} />
      {dialog === "edit" && <EditWebhook webhook={webhook} onDismiss={() => setDialog(undefined)} />}
      {dialog === "delete" && (
        <DeleteWebhook webhook={webhook} onDeleted={() => void navigate(LIST)} onDismiss={() => setDialog(undefined)} />
      )}
    </Page>
  );
}

const NEEDS: readonly Need[] = ["settings:write"];

/** The buttons of a webhook, and what came of them. */
function useActs(webhook: Webhook, onOpen: (dialog: "edit" | "delete") => void) {
  const { id, enabled, format } = webhook;
  const say = text.webhooks.detail;
  const [secret, setSecret] = useState<string>();
  const params = { id };
  const etag = useQuery(webhooks.one(id)).data?.etag;
  const test = useSend((idempotencyKey) => client.webhooks.test({ params, body: {}, idempotencyKey }), notifyTested);
  const rotation = useSend(
    (idempotencyKey) => client.webhooks.rotateSecret({ params, body: {}, idempotencyKey }),
    ({ data }) => setSecret(data.secret ?? undefined),
  );
  const toggle = useSend(
    () => client.webhooks.update({ params, body: { enabled: !enabled }, ...(etag !== undefined && { ifMatch: etag }) }),
    ({ data }) => notify({ id, type: "success", header: say.saved(data.name) }),
  );
  const failure = test.error ?? rotation.error ?? toggle.error;
  const action = <Id extends string>(actionId: Id, label: string) =>
    ({ id: actionId, text: label, button: "normal", needs: NEEDS }) as const;
  const sends = { test, rotate: rotation, toggle };
  return {
    buttons: (
      <PageActions
        actions={[
          { ...action("test", say.test), pending: test.isPending, disabledReason: enabled ? undefined : say.enableFirst },
          ...(format === "json" ? [{ ...action("rotate", say.rotate), pending: rotation.isPending }] : []),
          { ...action("toggle", enabled ? say.disable : say.enable), pending: toggle.isPending },
          action("edit", say.edit),
          action("delete", say.delete),
        ]}
        onChoose={(chosen) => (chosen === "edit" || chosen === "delete" ? onOpen(chosen) : sends[chosen].mutate())}
      >
        <May needs={NEEDS}>
          <Calls webhook={webhook} />
        </May>
      </PageActions>
    ),
    failure: failure !== null && <Failure error={failure} />,
    rotated: secret !== undefined && (
      <SecretOnce
        title={say.rotated}
        valueName={text.webhooks.create.secret}
        value={secret}
        onStored={() => setSecret(undefined)}
      />
    ),
  };
}

function notifyTested({ data: { id, status, tries } }: { data: Delivery }): void {
  const say = text.webhooks.detail;
  if (status === "delivered") notify({ id, type: "success", header: say.tested });
  else notify({ id, type: "error", header: say.testFailed, content: resultOf(tries.at(-1)) });
}

/** A newer service may know more reasons. */
function reasonOf(reason: string): string {
  const reasons: Readonly<Record<string, string>> = text.webhooks.reasons;
  return reasons[reason] ?? reason;
}

function Facts({ webhook }: { webhook: Webhook }) {
  const { columns, create, detail: say } = text.webhooks;
  return (
    <Section title={say.title}>
      <KeyValuePairs
        columns={3}
        minColumnWidth={200}
        items={[
          { label: columns.status, value: <WebhookStatus status={webhook.status} /> },
          { label: columns.url, value: <Wrapped>{webhook.url}</Wrapped> },
          { label: say.format, value: create.formats[webhook.format] },
          { label: columns.events, value: webhook.events.join(", ") },
          { label: columns.last, value: <Time at={webhook.last_delivery_at} exact none={say.never} /> },
          ...(webhook.failing_since === null
            ? []
            : [{ label: say.failingSince, value: <Time at={webhook.failing_since} exact /> }]),
          { label: say.created, value: <Time at={webhook.created_at} exact /> },
          { label: say.id, value: <Copyable value={webhook.id} valueName={say.id} code /> },
        ]}
      />
    </Section>
  );
}

const resultOf = (last: Delivery["tries"][number] | undefined): string =>
  last?.error != null
    ? sentenceOf(last.reason, last.error)
    : last?.http_status == null
      ? "–"
      : text.webhooks.deliveries.http(last.http_status);

function Deliveries({ webhook }: { webhook: Webhook }) {
  const say = text.webhooks.deliveries;
  const columns: [Column<Delivery>, ...Column<Delivery>[]] = [
    {
      id: "event",
      header: say.event,
      cell: ({ event_type }) => <Wrapped>{event_type}</Wrapped>,
      text: ({ event_type }) => event_type,
    },
    {
      id: "status",
      header: say.status,
      cell: ({ status }) => <DeliveryStatus status={status} />,
      text: ({ status }) => say.statuses[status],
    },
    {
      id: "tries",
      header: say.tries,
      cell: ({ tries }) => String(tries.length),
      text: ({ tries }) => String(tries.length),
    },
    {
      id: "result",
      header: say.result,
      cell: ({ tries }) => <Wrapped>{resultOf(tries.at(-1))}</Wrapped>,
      text: ({ tries }) => resultOf(tries.at(-1)),
    },
    { id: "when", header: say.when, cell: ({ created_at }) => <Time at={created_at} />, text: ({ created_at }) => created_at },
    menuColumn((delivery) => <DeliveryMenu webhook={webhook} delivery={delivery} />),
  ];
  return (
    <ResourceTable
      title={say.title}
      description={say.about}
      list={webhooks.deliveries(webhook.id)}
      Filters={ListFilters}
      narrowing={NARROW_DELIVERIES}
      columns={columns}
      empty={say.empty}
    />
  );
}

/** A pending delivery is sent anyway. */
function DeliveryMenu({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const say = text.webhooks.deliveries;
  const params = { id: webhook.id, delivery_id: delivery.id };
  const { id } = delivery;
  const redelivery = useSend(
    (idempotencyKey) => client.webhooks.redeliver({ params, body: {}, idempotencyKey }),
    () => notify({ id, type: "success", header: say.redelivered }),
    (error) => notify({ id, type: "error", header: say.notRedelivered, content: <FailureNote error={error} /> }),
  );
  const disabledReason = webhook.enabled ? undefined : text.webhooks.detail.enableFirst;
  return (
    <RowMenu
      label={text.resource.list.actionsOn(delivery.event_type)}
      items={delivery.status === "pending" ? [] : [{ id: "redeliver", text: say.redeliver, disabledReason, needs: NEEDS }]}
      onChoose={() => redelivery.mutate()}
    />
  );
}
