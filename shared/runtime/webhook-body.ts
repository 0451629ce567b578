// What a delivery says: the event with the record that it is about, or a message of a chat.
import type { Permission } from "../api/permissions.ts";
import { Backup } from "../api/backups.ts";
import { Event } from "../api/events.ts";
import { get as getInstance } from "../api/instances.ts";
import { Server } from "../api/servers.ts";
import type { WebhookFormat } from "../api/webhooks.ts";
import { find, read } from "../data/table.ts";
import { permissionForEvent } from "../api/event-permissions.ts";
import { EVENT_TYPES } from "../domain/event-types.ts";
import { BODY_BYTES_MAX } from "../domain/limits.ts";
import { backupRef, toBackup } from "../records/backups.ts";
import { instanceRef, showInstanceTo } from "../records/instances.ts";
import type { EventRecord } from "../records/schemas/event.ts";
import type { WebhookRecord } from "../records/schemas/webhook.ts";
import { serverRefs, toServer } from "../records/servers.ts";
import { createShaper } from "./shape.ts";

/** Only the public fields of each: records have more. */
const SHOWN = {
  event: createShaper(Event),
  server: createShaper(Server),
  instance: createShaper(getInstance().data),
  backup: createShaper(Backup),
};

/** The body's text, for a webhook that acts for somebody with these permissions. */
export async function bodyFor(
  webhook: WebhookRecord,
  event: EventRecord,
  permissions: readonly Permission[],
  also: number,
): Promise<string> {
  const { type, resource } = event;
  const maySee = permissions.includes(permissionForEvent(type, resource.type));
  const shown = { ...event, data: maySee ? event.data : null };
  if (webhook.format !== "json") return JSON.stringify(MESSAGES[webhook.format]?.(linesOf(shown, also)) ?? { text: type });
  const object = maySee ? await recordOf(webhook, event, permissions) : null;
  const whole = JSON.stringify({ type, timestamp: event.created_at, data: { event: SHOWN.event(shown), object } });
  if (Buffer.byteLength(whole) <= BODY_BYTES_MAX) return whole;
  return JSON.stringify({
    type,
    timestamp: event.created_at,
    data: { event: SHOWN.event({ ...shown, data: null }), object: null },
  });
}

/** As its GET shows it; null once it is gone. */
async function recordOf(
  { account_id }: WebhookRecord,
  { resource: { type, id } }: EventRecord,
  permissions: readonly Permission[],
): Promise<unknown> {
  switch (type) {
    case "server": {
      const { server, ...observed } = await read(serverRefs(account_id, id));
      return server === undefined ? null : SHOWN.server(toServer(server, observed));
    }
    case "instance": {
      const instance = await find(instanceRef(account_id, id));
      return instance === undefined ? null : SHOWN.instance(await showInstanceTo({ permissions: [...permissions] }, instance));
    }
    case "backup": {
      const backup = await find(backupRef(account_id, id));
      return backup === undefined ? null : SHOWN.backup(toBackup(backup));
    }
    default:
      return null;
  }
}

/** A title, what it is about, and why. */
type Lines = readonly [string, ...string[]];

function linesOf({ type, resource, data }: Pick<EventRecord, "type" | "resource" | "data">, also: number): Lines {
  const error = data?.operation?.error;
  const alert = data?.alert;
  return [
    `${EVENT_TYPES[type]?.text ?? "Something has happened"} (${type})`,
    `${resource.type} ${resource.name ?? resource.id}`,
    ...(error === null || error === undefined ? [] : [`${error.code}: ${error.message}`]),
    ...(alert === undefined ? [] : [`${alert.kind}: ${alert.value} (threshold ${alert.threshold})`]),
    ...(also > 0 ? [`And ${also} more like it since the last message`] : []),
  ];
}

/** A customer's words must neither mention anybody nor become a link or formatting. */
const plain = (text: string): string =>
  text
    .replaceAll("@", "@\u200b")
    .replaceAll("://", ":\u200b//")
    .replaceAll(/[`*_~|\\[\]()>#]/g, "\\$&");
const forSlack = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("@", "@\u200b")
    .replaceAll("://", ":\u200b//");

const MESSAGES: Partial<Record<WebhookFormat, (lines: Lines) => object>> = {
  slack: (lines) => ({
    blocks: [{ type: "section", text: { type: "plain_text", text: lines.join("\n"), emoji: false } }],
    text: forSlack(lines[0]),
  }),
  discord: (lines) => ({ content: lines.map(plain).join("\n").slice(0, 2_000), allowed_mentions: { parse: [] } }),
  teams: (lines) => ({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: {
          type: "AdaptiveCard",
          version: "1.4",
          body: lines.map((line, index) => ({
            type: "TextBlock",
            text: plain(line),
            wrap: true,
            ...(index === 0 && { weight: "bolder" }),
          })),
        },
      },
    ],
  }),
};
