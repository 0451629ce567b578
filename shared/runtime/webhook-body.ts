// The body of a delivery: the event with the record that it is about, or a message of a chat.
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
import { instanceRef } from "../records/instances.ts";
import { showInstanceFor } from "../records/shown-instances.ts";
import type { EventRecord } from "../records/schemas/event.ts";
import type { WebhookRecord } from "../records/schemas/webhook.ts";
import { serverRefs, toServer } from "../records/servers.ts";
import { createShaper } from "./shape.ts";

/** The shapers leave only the public fields of each: records have more. */
const SHAPERS = {
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
  // The event of a backup policy is about an instance, which may need another permission.
  const maySeeRecord = maySee && permissions.includes(permissionForEvent("", resource.type));
  const visibleEvent = { ...event, data: maySee ? event.data : null };
  if (webhook.format !== "json")
    return JSON.stringify(MESSAGES[webhook.format]?.(buildLines(visibleEvent, also), linkTo(resource)) ?? { text: type });
  const object = maySeeRecord ? await loadRecord(webhook, event, permissions) : null;
  const body = JSON.stringify({ type, timestamp: event.created_at, data: { event: SHAPERS.event(visibleEvent), object } });
  if (Buffer.byteLength(body) <= BODY_BYTES_MAX) return body;
  return JSON.stringify({
    type,
    timestamp: event.created_at,
    data: { event: SHAPERS.event({ ...visibleEvent, data: null }), object: null },
  });
}

/** Loads a record as its GET shows it; null once it is gone. */
async function loadRecord(
  { account_id }: WebhookRecord,
  { resource: { type, id } }: EventRecord,
  permissions: readonly Permission[],
): Promise<unknown> {
  switch (type) {
    case "server": {
      const { server, ...observed } = await read(serverRefs(account_id, id));
      return server === undefined ? null : SHAPERS.server(toServer(server, observed));
    }
    case "instance": {
      const instance = await find(instanceRef(account_id, id));
      return instance === undefined ? null : SHAPERS.instance(await showInstanceFor({ permissions: [...permissions] }, instance));
    }
    case "backup": {
      const backup = await find(backupRef(account_id, id));
      return backup === undefined ? null : SHAPERS.backup(toBackup(backup));
    }
    default:
      return null;
  }
}

/** A title, what it is about, and why. */
type Lines = readonly [string, ...string[]];

/** The pages of the dashboard, whose address the functions of requests do not know on AWS: a test has no link there. */
const PAGES: Readonly<Record<string, (id: string) => string>> = {
  server: (id) => `/servers/${id}`,
  instance: (id) => `/instances/${id}`,
  backup: (id) => `/backups?backup=${id}`,
  webhook: (id) => `/settings/webhooks/${id}`,
};

function linkTo({ type, id }: EventRecord["resource"]): string | undefined {
  const dashboard = process.env["DASHBOARD_URL"];
  return dashboard === undefined ? undefined : `${dashboard}${PAGES[type]?.(id) ?? "/activity"}`;
}

function buildLines({ type, resource, data }: Pick<EventRecord, "type" | "resource" | "data">, also: number): Lines {
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
const escapeMarkdown = (text: string): string =>
  text
    .replaceAll("@", "@\u200b")
    .replaceAll("://", ":\u200b//")
    .replaceAll(/[`*_~|\\[\]()>#]/g, "\\$&");
const escapeSlack = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("@", "@\u200b")
    .replaceAll("://", ":\u200b//");

const LINK = "Open in the dashboard";

const MESSAGES: Partial<Record<WebhookFormat, (lines: Lines, link: string | undefined) => object>> = {
  slack: (lines, link) => ({
    blocks: [
      { type: "section", text: { type: "plain_text", text: lines.join("\n").slice(0, 3_000), emoji: false } },
      ...(link === undefined ? [] : [{ type: "section", text: { type: "mrkdwn", text: `<${link}|${LINK}>`, verbatim: true } }]),
    ],
    text: escapeSlack(lines[0]),
  }),
  discord: (lines, link) => ({
    content: [lines.map(escapeMarkdown).join("\n").slice(0, 1_800), ...(link === undefined ? [] : [`[${LINK}](${link})`])].join(
      "\n",
    ),
    allowed_mentions: { parse: [] },
  }),
  teams: (lines, link) => ({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: {
          type: "AdaptiveCard",
          version: "1.4",
          body: lines.map((line, index) => ({
            type: "TextBlock",
            text: escapeMarkdown(line),
            wrap: true,
            ...(index === 0 && { weight: "bolder" }),
          })),
          ...(link !== undefined && { actions: [{ type: "Action.OpenUrl", title: LINK, url: link }] }),
        },
      },
    ],
  }),
};
