// Every query of the pages to the API, with its key in the cache: [resource, "list" or "one", its parameters].
import type { Overview } from "../../../shared/api/overview.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import type { AccountUser } from "../../../shared/api/users.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { byIds } from "./by-ids.ts";
import { client } from "./client.ts";
import { everyPage } from "./every-page.ts";
import { MINUTE_MS } from "../../../shared/domain/durations.ts";

/** The kinds of records whose changes change a query's response, where not all do that could. */
export interface QueryMeta extends Record<string, unknown> {
  changedBy: readonly (keyof Overview["revisions"])[];
}

declare module "@tanstack/react-query" {
  interface Register {
    queryMeta: QueryMeta;
  }
}

/** The parameters of a list. */
export type ListQuery = Record<string, string | number | readonly string[] | undefined>;

export interface Question<T> {
  queryKey: readonly unknown[];
  queryFn: (context: { signal: AbortSignal }) => Promise<T>;
}

const question = <T>(queryKey: readonly unknown[], queryFn: Question<T>["queryFn"]): Question<T> => ({ queryKey, queryFn });

/** How long a name that a page only mentions stays fresh: pages that change it refresh it themselves. */
const NAMES_MS = MINUTE_MS;
/** One of the records that a page names, or null if it was deleted. */
const namedQuestion = <T extends { id: string }>(resource: string, list: (query: { ids: string }) => Promise<{ data: T[] }>) => {
  const find = byIds(list);
  return (id: string) => ({ ...question([resource, "named", id], () => find(id)), staleTime: NAMES_MS });
};

/** Figures come about every ten minutes, and no change of a record brings them. */
const METRICS_MS = MINUTE_MS;
const ofMetrics = { staleTime: METRICS_MS, meta: { changedBy: [] } satisfies QueryMeta };

const OFFLINE = "offline" satisfies ListedServer["status"];

/**
 * The most servers that are searched for low disks. A disk counts as low until a fifth more is free, so fewer may be found than
 * are counted; the alerts name the rest.
 */
const DISKS_MAX = 3 * PER_PAGE_MAX;

export const servers = {
  metrics: (id: string, query: ListQuery) => ({
    ...question(["servers", "metrics", id, query], ({ signal }) => client.servers.metrics({ params: { id }, query, signal })),
    ...ofMetrics,
  }),
  list: (query: ListQuery = {}) => question(["servers", "list", query], ({ signal }) => client.servers.list({ query, signal })),
  /** Those that are offline or have little disk space, each page by page, until as many are found as the overview counts. */
  bad: ({ offline, low }: { offline: number; low: number }, isLow: (server: ListedServer) => boolean) =>
    question(["servers", "list", "bad", offline > 0, low > 0], async ({ signal }) => {
      const list = async (query: ListQuery, isEnough: (items: readonly ListedServer[]) => boolean) => {
        const fetch = (cursor: object) => client.servers.list({ query: { per_page: PER_PAGE_MAX, ...query, ...cursor }, signal });
        return (await everyPage(fetch, isEnough)).items;
      };
      const [unreachable, any] = await Promise.all([
        offline > 0 ? list({ status: OFFLINE }, ({ length }) => length >= offline) : [],
        // The API lists by status, but not by the percentage of a disk that is free.
        low > 0 ? list({}, (items) => items.length >= DISKS_MAX || items.filter(isLow).length >= low) : [],
      ]);
      const bad = new Map([...unreachable, ...any.filter(isLow)].map((server) => [server.id, server]));
      return { data: [...bad.values()] };
    }),
  one: (id: string) => question(["servers", "one", id], ({ signal }) => client.servers.get({ params: { id }, signal })),
  named: namedQuestion("servers", (query) => client.servers.list({ query })),
};

export const instances = {
  /** Lists a server's instances for pages that show nothing of them that follows from the server. */
  onServer: (query: ListQuery) => ({ ...instances.list(query), meta: { changedBy: ["instances"] } satisfies QueryMeta }),
  list: (query: ListQuery = {}) =>
    question(["instances", "list", query], ({ signal }) => client.instances.list({ query, signal })),
  one: (id: string) => question(["instances", "one", id], ({ signal }) => client.instances.get({ params: { id }, signal })),
  /** Fetches the log only when the user asks: each reading signs in to the server. */
  log: (id: string, query: ListQuery) => ({
    ...question(["instances", "log", id, query], ({ signal }) => client.instances.logs({ params: { id }, query, signal })),
    staleTime: Infinity,
    meta: { changedBy: [] } satisfies QueryMeta,
  }),
  metrics: (id: string, query: ListQuery) => ({
    ...question(["instances", "metrics", id, query], ({ signal }) => client.instances.metrics({ params: { id }, query, signal })),
    ...ofMetrics,
  }),
  named: namedQuestion("instances", (query) => client.instances.list({ query })),
};

export const backups = {
  list: (query: ListQuery = {}) => question(["backups", "list", query], ({ signal }) => client.backups.list({ query, signal })),
  /** The backups of one instance can be filtered by status as well. */
  listOf: (instanceId: string) => (query: ListQuery) =>
    question(["backups", "list", instanceId, query], ({ signal }) =>
      client.backups.listOfInstance({ params: { id: instanceId }, query, signal }),
    ),
  one: (id: string) => question(["backups", "one", id], ({ signal }) => client.backups.get({ params: { id }, signal })),
  named: namedQuestion("backups", (query) => client.backups.list({ query })),
};

/** What became of an instance's backup, as the picture of the last nights has it. */
export type NightBackup = Awaited<ReturnType<typeof nightsSince>>["instances"][number]["backups"][number];

async function nightsSince(created_after: string, signal: AbortSignal) {
  const { data } = await client.overview.nights({ query: { created_after }, signal });
  const instances = data.instances.map(({ backups: of, ...instance }) => ({
    ...instance,
    backups: of.map(({ drill, ...backup }) => ({ ...backup, drill: drill === null ? null : { status: drill } })),
  }));
  return { instances, isWhole: data.complete };
}

/** Ten requests: with more overdue, the picture says that it does not show them all. */
const OVERDUE_MAX = 10 * PER_PAGE_MAX;

/**
 * The backups of the last nights, and the instances whose backups are overdue, if there are any. Not again by itself: it is the
 * largest response that a page asks for.
 */
export const nights = (created_after: string, isAnyOverdue: boolean) => ({
  ...question(["backups", "nights", created_after, isAnyOverdue], async ({ signal }) => {
    const late: ListQuery = { per_page: PER_PAGE_MAX, protection: "overdue" };
    const [nightlyBackups, overdue] = await Promise.all([
      nightsSince(created_after, signal),
      isAnyOverdue
        ? everyPage(
            (cursor) => client.instances.list({ query: { ...late, ...cursor }, signal }),
            ({ length }) => length >= OVERDUE_MAX,
          )
        : { items: [], isWhole: true },
    ]);
    return { ...nightlyBackups, overdue: overdue.items, isOverdueWhole: overdue.isWhole };
  }),
  staleTime: Infinity,
  meta: { changedBy: [] } satisfies QueryMeta,
});

/** 404 until an instance has one. */
export const backupPolicies = {
  of: (id: string) => question(["backup-policy", "one", id], ({ signal }) => client.backupPolicy.get({ params: { id }, signal })),
};

/** What an instance's ERP has besides its image, or will have. */
export const code = {
  of: (id: string) => question(["code", "one", id], ({ signal }) => client.code.get({ params: { id }, signal })),
};

export const deploys = {
  listOf: (instanceId: string) => (query: ListQuery) =>
    question(["deploys", "list", instanceId, query], ({ signal }) =>
      client.deploys.listOfInstance({ params: { id: instanceId }, query, signal }),
    ),
  one: (id: string) => question(["deploys", "one", id], ({ signal }) => client.deploys.get({ params: { id }, signal })),
};

export const operations = {
  list: (query: ListQuery = {}) =>
    question(["operations", "list", query], ({ signal }) => client.operations.list({ query, signal })),
  one: (id: string) => ({
    ...question(["operations", "one", id], ({ signal }) => client.operations.get({ params: { id }, signal })),
    meta: { changedBy: ["operations"] } satisfies QueryMeta,
  }),
  /** It is another one with each status: the end brings what was missing. */
  log: (id: string, status: string) => ({
    ...question(["operations", "log", id, status], ({ signal }) => client.operations.log({ params: { id }, signal })),
    meta: { changedBy: [] } satisfies QueryMeta,
  }),
  /** What becomes of each resource of a bulk action: another list with each change of its counts. */
  items: (id: string, query: ListQuery, counts: readonly number[]) => ({
    ...question(["operations", "list", "items", id, query, counts], async ({ signal }) => {
      const { data, meta } = await client.operations.items({ params: { id }, query, signal });
      return { data: data.map((item) => ({ ...item, id: item.resource.id })), meta };
    }),
    meta: { changedBy: [] } satisfies QueryMeta,
  }),
};

/** Servers, instances and backups by their words, for the search in the top bar. */
export const search = {
  find: (q: string) => question(["search", q], ({ signal }) => client.search.find({ query: { q, limit: 20 }, signal })),
};

export const sshKeys = {
  list: (query: ListQuery = {}) => question(["ssh-keys", "list", query], ({ signal }) => client.sshKeys.list({ query, signal })),
};

export const tokens = {
  list: (query: ListQuery = {}) => question(["tokens", "list", query], ({ signal }) => client.tokens.list({ query, signal })),
};

/** Whose session it is, and what it permits. */
export const me = () => question(["me"], ({ signal }) => client.auth.me({ signal }));

export const invitations = {
  list: (query: ListQuery = {}) =>
    question(["invitations", "list", query], ({ signal }) => client.invitations.list({ query, signal })),
};

export const sessions = {
  list: (query: ListQuery = {}) =>
    question(["sessions", "list", query], ({ signal }) => client.auth.listSessions({ query, signal })),
};

export const secondFactors = {
  list: (query: ListQuery = {}) =>
    question(["second-factors", "list", query], ({ signal }) => client.secondFactors.list({ query, signal })),
};

export const users = {
  list: (query: ListQuery = {}) => question(["users", "list", query], ({ signal }) => client.users.list({ query, signal })),
  one: (id: string) => question(["users", "one", id], ({ signal }) => client.users.get({ params: { id }, signal })),
  /** The user's own name and notifications; only those who may read users get the version, too. */
  self: (id: string, mayRead: boolean): Question<{ data: Self; etag: string | undefined }> =>
    question(["users", "self", id, mayRead], async ({ signal }) => {
      if (mayRead) return client.users.get({ params: { id }, signal });
      const { user } = (await client.auth.me({ signal })).data;
      if (user === null) throw new Error("Nobody is signed in");
      return { data: user, etag: undefined };
    }),
};
type Self = Pick<AccountUser, "name" | "notifications">;

const PENDING_EVERY_MS = 5_000;

export const webhooks = {
  list: (query: ListQuery = {}) => question(["webhooks", "list", query], ({ signal }) => client.webhooks.list({ query, signal })),
  one: (id: string) => question(["webhooks", "one", id], ({ signal }) => client.webhooks.get({ params: { id }, signal })),
  deliveries:
    (id: string) =>
    (query: ListQuery = {}) => ({
      ...question(["webhooks", "deliveries", id, query], ({ signal }) =>
        client.webhooks.listDeliveries({ params: { id }, query, signal }),
      ),
      // A delivery does not change the account, so it must not refetch pages.
      meta: { changedBy: [] } satisfies QueryMeta,
      refetchInterval: ({ state: { data } }: { state: { data?: { data: readonly { status: string }[] } | undefined } }) =>
        data?.data.some(({ status }) => status === "pending") === true && PENDING_EVERY_MS,
    }),
};

export const alerts = {
  list: (query: ListQuery = {}) => question(["alerts", "list", query], ({ signal }) => client.alerts.list({ query, signal })),
  one: (id: string) => question(["alerts", "one", id], ({ signal }) => client.alerts.get({ params: { id }, signal })),
};

export const alertSettings = () => question(["alert-settings", "one"], ({ signal }) => client.alertSettings.get({ signal }));

export const events = {
  list: (query: ListQuery = {}) => question(["events", "list", query], ({ signal }) => client.events.list({ query, signal })),
};

export const overview = () => question(["overview"], ({ signal }) => client.overview.get({ signal }));

/** The servers and instances that are loaded most. */
export const worst = () => ({
  ...question(["overview", "worst"], ({ signal }) => client.overview.worst({ signal })),
  ...ofMetrics,
});

/** The settings for forms, which show nothing of the quotas that the settings also contain. */
export const defaults = () => ({
  ...question(["settings", "defaults"], ({ signal }) => client.settings.get({ signal })),
  meta: { changedBy: ["others"] } satisfies QueryMeta,
});

export const sso = () => question(["sso", "one"], ({ signal }) => client.sso.get({ signal }));

export const settings = () => question(["settings", "one"], ({ signal }) => client.settings.get({ signal }));

/** The service itself. */
export const health = () => question(["health"], ({ signal }) => client.health.get({ signal }));

/** What a deployment offers, fetched once. */
export const catalog = () => ({
  ...question(["catalog"], ({ signal }) => client.catalog.get({ signal })),
  staleTime: Infinity,
});
