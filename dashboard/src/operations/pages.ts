// The page of a resource that an event or an operation names, the resource's present name, and whether it was deleted since.
import { useQuery } from "@tanstack/react-query";
import type { ListMeta } from "../../../shared/api/fields.ts";
import type { Event } from "../../../shared/api/settings.ts";
import { nameOfBackup } from "../../../shared/domain/backup-name.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { backups, instances, type ListQuery, type Question, servers, sshKeys, tokens } from "../app/queries.ts";
import { isMissing } from "../app/words.ts";

export type Resource = Pick<Event["resource"], "type" | "id">;
type Named = { id: string; name: string } | { id: string; instance_name: string | null };
type List = (query: ListQuery) => Question<{ data: Named[]; meta: ListMeta }>;

const LISTS: Readonly<Record<string, List>> = {
  server: servers.list,
  instance: instances.list,
  backup: backups.list,
  ssh_key: sshKeys.list,
  token: tokens.list,
};

const ONES: Readonly<Record<string, (id: string) => Question<{ data: Named }>>> = {
  server: servers.one,
  instance: instances.one,
  backup: backups.one,
  ssh_key: sshKeys.one,
};

interface Found {
  /** Whether it was deleted; undefined until known. */
  isGone: boolean | undefined;
  name?: string;
}

export const useIsGone = (resource: Resource | undefined): boolean | undefined => useFound(resource).isGone;

/** The page fetches each kind once, however many rows it shows. What is missing from a complete list was deleted; what is missing from the newest of a longer one is asked for by its ID. */
export function useFound(resource: Resource | undefined): Found {
  const list = LISTS[resource?.type ?? ""];
  const { data, isError } = useQuery({
    ...(list ?? servers.list)({ page: 1, per_page: PER_PAGE_MAX }),
    enabled: list !== undefined,
  });
  const { type = "", id = "" } = resource ?? {};
  const listed = data?.data.find((each) => each.id === id);
  const [one, whole] = [ONES[type], data === undefined || data.meta.total <= PER_PAGE_MAX];
  const single = useQuery({
    queryKey: ["exists", id],
    queryFn: async (context) => nullIfMissing(async () => one?.(id).queryFn(context)),
    enabled: one !== undefined && !whole && listed === undefined,
    staleTime: Infinity,
  });
  if (list === undefined || isError) return { isGone: false };
  if (data === undefined) return { isGone: undefined };
  if (listed !== undefined) return { isGone: false, name: nameOf(listed) };
  if (whole || one === undefined) return { isGone: whole };
  if (single.data === null) return { isGone: true };
  if (single.data === undefined) return { isGone: single.isError ? false : undefined };
  return { isGone: false, name: nameOf(single.data.data) };
}

const nameOf = (record: Named): string => ("name" in record ? record.name : nameOfBackup(record));

async function nullIfMissing<T>(fetchOne: () => Promise<T>): Promise<T | null> {
  try {
    return await fetchOne();
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

export function pageOf({ type, id }: Resource): string | undefined {
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
