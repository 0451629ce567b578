// The page of a resource that an event or an operation names, and whether it was deleted since.
import { useQuery } from "@tanstack/react-query";
import type { Event } from "../../../shared/api/events.ts";
import type { Operation } from "../../../shared/api/operations.ts";
import { OPERATION } from "../../../shared/domain/lifecycle.ts";
import { instances, type Question, servers } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { session } from "../session/session.ts";

export type Resource = Pick<Event["resource"], "type" | "id">;
export type NamedResource = Event["resource"];

/** The kinds with a page of their own, which is missing once the resource is deleted. */
const NAMED: Readonly<Record<string, (id: string) => Question<{ name: string } | null>>> = {
  server: servers.named,
  instance: instances.named,
};

/** Whether a resource was deleted, as far as that is known; of a new one it is not asked. */
export function useIsGone({ type, id }: Resource, { isNew }: { isNew: boolean }): boolean {
  const questionOf = NAMED[type];
  const { data } = useQuery({ ...(questionOf ?? servers.named)(id), enabled: questionOf !== undefined && !isNew });
  return questionOf !== undefined && data === null;
}

/** What an operation is about: a bulk action has a page of its own, which lists its resources. */
export const subjectOf = ({ id, resource, result }: Operation): NamedResource =>
  result?.bulk === undefined ? resource : { type: "operation", id, name: text.operations.bulk.results };

/** The page of what an operation is about, unless the operation has deleted that. */
export const pageOfSubject = ({ type, status, resource }: Operation): string | undefined =>
  type.endsWith(".delete") && status === OPERATION.succeeded ? undefined : pageOf(resource);

export function pageOf({ type, id }: Resource): string | undefined {
  switch (type) {
    case "server":
      return `/servers/${id}`;
    case "instance":
      return `/instances/${id}`;
    case "backup":
      return `/backups?backup=${id}`;
    case "operation":
      return `/operations/${id}`;
    case "ssh_key":
      return "/settings/ssh-keys";
    case "token":
      return "/settings/api-keys";
    case "webhook":
      return "/settings/webhooks";
    case "user":
      return id === session()?.user.id ? "/settings/account" : "/settings/people";
    case "account":
      return "/settings/account";
    default:
      return undefined;
  }
}
