// The page of a resource that an event or an operation names, and whether the resource was deleted since.
import { useQuery } from "@tanstack/react-query";
import type { ListMeta } from "../../../shared/api/fields.ts";
import type { Event } from "../../../shared/api/settings.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { backups, instances, type ListQuery, type Question, servers, sshKeys, tokens } from "../app/queries.ts";
import { isMissing } from "../app/words.ts";

type List = (query: ListQuery) => Question<{ data: { id: string }[]; meta: ListMeta }>;

const LISTS: Readonly<Record<string, List>> = {
  server: servers.list,
  instance: instances.list,
  backup: backups.list,
  ssh_key: sshKeys.list,
  token: tokens.list,
};

const ONES: Readonly<Record<string, (id: string) => Question<unknown>>> = {
  server: servers.one,
  instance: instances.one,
  backup: backups.one,
  ssh_key: sshKeys.one,
};

/** The page fetches each kind once, however many rows it shows. What is missing from a complete list was deleted; what is missing from the newest of a longer one is asked for by its ID. Undefined until known. */
export function useIsGone(resource: Pick<Event["resource"], "type" | "id"> | undefined): boolean | undefined {
  const list = LISTS[resource?.type ?? ""];
  const { data, isError } = useQuery({
    ...(list ?? servers.list)({ page: 1, per_page: PER_PAGE_MAX }),
    enabled: list !== undefined,
  });
  const { type = "", id = "" } = resource ?? {};
  const listed = data?.data.some((each) => each.id === id);
  const [one, whole] = [ONES[type], data === undefined || data.meta.total <= PER_PAGE_MAX];
  const single = useQuery({
    queryKey: ["exists", id],
    queryFn: async (context) => isThere(async () => one?.(id).queryFn(context)),
    enabled: one !== undefined && !whole && listed === false,
    staleTime: Infinity,
  });
  if (list === undefined || isError) return false;
  if (listed === undefined || listed) return listed === undefined ? undefined : false;
  if (whole || one === undefined) return whole;
  return single.data === undefined ? (single.isError ? false : undefined) : !single.data;
}

async function isThere(fetchOne: () => Promise<unknown>): Promise<boolean> {
  try {
    await fetchOne();
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

export function pageOf({ type, id }: Pick<Event["resource"], "type" | "id">): string | undefined {
  switch (type) {
    case "server":
      return `/servers/${id}`;
    case "instance":
      return `/instances/${id}`;
    case "backup":
      return `/backups?backup=${id}`;
    case "ssh_key":
      return "/settings/ssh-keys";
    case "token":
      return "/settings/api-keys";
    case "account":
    case "user":
      return "/settings/account";
    default:
      return undefined;
  }
}
