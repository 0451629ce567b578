// What else records are filtered and found by, kept as labels are (label-index.ts): whoever has it, in five bytes a record. No
// label begins with an equals sign.
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import * as z from "zod";
import type { Labels } from "../api/fields.ts";
import type { ResourceType } from "../domain/lifecycle.ts";
import { plainAddress } from "../domain/network.ts";
import type { Item } from "./keys.ts";

/** The tags of a version; older records lack those that are newer. */
type TagName =
  | "erp_version"
  | "edition"
  | "drill"
  | "locked"
  | "update_available"
  | "needs_reboot"
  | "provider"
  | "region"
  | "size"
  | "email"
  | "ip";

const tagString = (name: TagName, value: string): string => `=${name}:${value}`;

export const isTag = (label: string): boolean => label.startsWith("=");

/** The labels of a query, with the filters that have tags. */
export function addTags(
  label: readonly string[] | undefined,
  filters: Partial<Record<TagName, string | undefined>>,
): readonly string[] | undefined {
  const tags = FILTERS.flatMap((name) => (filters[name] === undefined ? [] : [tagString(name, filters[name])]));
  return tags.length === 0 ? label : [...(label ?? []), ...tags];
}
const FILTERS = ["erp_version", "edition", "drill", "update_available", "needs_reboot", "provider", "region", "size"] as const;

/** Locked backups have a tag; the others, which are nearly all, have none. */
export const LOCKED = tagString("locked", "true");

/** The tag that a search means, if it is an email address or an IP address. */
export function tagsInSearch(search: string): string[] {
  const text = search.trim();
  if (isIP(text) !== 0) return [tagString("ip", addressForm(text))];
  return /^\S+@\S+$/.test(text) ? [tagString("email", emailForm(text))] : [];
}

/**
 * What a search has of an IP address, if that is a part of one: three characters or more, with a dot or a colon. A whole one has
 * a tag.
 */
export function addressPart(search: string): string | undefined {
  const text = search.trim().toLowerCase();
  const isPart = /^(?=.*\.)[\d.]{3,}$|^(?=.*:)[\da-f:]{3,}$/.test(text) && isIP(text) === 0;
  return isPart ? text : undefined;
}

export const addressForm = (address: string): string => {
  const plain = plainAddress(address);
  return isIP(plain) === 6 ? new URL(`http://[${plain}]`).hostname : plain;
};

/** Domains are stored in their ASCII form, and nobody has two mailboxes that differ in case. */
function emailForm(email: string): string {
  const at = email.lastIndexOf("@") + 1;
  const domain = email.slice(at);
  return `${email.slice(0, at)}${domainToASCII(domain) || domain}`.toLowerCase();
}

/** A damaged field finds nothing. */
const maybeText = z.string().nullish().catch(null);
const Tagged = z.object({
  erp_version: maybeText,
  edition: maybeText,
  last_drill: maybeText,
  update_available: z.boolean().nullish().catch(null),
  needs_reboot: z.boolean().nullish().catch(null),
  admin_email: maybeText,
  server_ip: maybeText,
  ip_address: maybeText,
  provider: maybeText,
  region: maybeText,
  size: maybeText,
  drill: z.object({ status: maybeText }).nullish().catch(null),
  locked: z.boolean().nullish().catch(null),
});
type Tagged = z.infer<typeof Tagged>;

const TAGS: Readonly<Record<ResourceType, (record: Tagged) => Partial<Record<TagName, string | null | undefined>>>> = {
  server: ({ provider, region, size, needs_reboot, ip_address }) => ({
    provider,
    region,
    size,
    needs_reboot: needs_reboot?.toString(),
    ip: ip_address && addressForm(ip_address),
  }),
  instance: ({ erp_version, edition, last_drill, update_available, admin_email, server_ip }) => ({
    erp_version,
    edition,
    drill: last_drill,
    update_available: update_available?.toString(),
    email: admin_email && emailForm(admin_email),
    ip: server_ip && addressForm(server_ip),
  }),
  backup: ({ drill, locked }) => ({ drill: drill?.status, locked: locked === true ? "true" : null }),
};

/** The tags of a record, as if they were labels. */
export function buildTags(kind: ResourceType, record: Item): Labels {
  const tags = Object.entries(TAGS[kind](Tagged.parse(record)));
  return Object.fromEntries(tags.flatMap(([name, value]) => (value ? [[`=${name}`, value]] : [])));
}
