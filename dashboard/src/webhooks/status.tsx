// The status of a webhook and of a delivery: a word and an icon.
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type { Delivery, Webhook } from "../../../shared/api/webhooks.ts";
import { text } from "../messages/text.ts";

type Signs<S extends string> = Record<S, StatusIndicatorProps.Type>;

const OF_WEBHOOK: Signs<Webhook["status"]> = { ok: "success", failing: "error", disabled: "stopped" };
const OF_DELIVERY: Signs<Delivery["status"]> = { pending: "pending", delivered: "success", failed: "error" };

export const WebhookStatus = ({ status }: Pick<Webhook, "status">) => (
  <StatusIndicator type={OF_WEBHOOK[status]}>{text.webhooks.statuses[status]}</StatusIndicator>
);

export const DeliveryStatus = ({ status }: Pick<Delivery, "status">) => (
  <StatusIndicator type={OF_DELIVERY[status]}>{text.webhooks.deliveries.statuses[status]}</StatusIndicator>
);
