// What there is at a glance, and where a name is found.
import * as z from "zod";
import {
  BACKUP_STATUSES,
  INSTANCE_STATUSES,
  OPEN_STATUSES,
  PROTECTION_STATUSES,
  RESOURCE_TYPES,
  SERVER_STATUSES,
} from "../domain/lifecycle.ts";
import { endpoint } from "./endpoint.ts";
import { integer, searchWords, timestamp, queryInteger } from "./fields.ts";

/** A number for each status. */
const counts = <const S extends string>(statuses: readonly S[]) =>
  z.object(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- entries lose the names of the statuses
    Object.fromEntries(statuses.map((status) => [status, integer(0)])) as Record<S, ReturnType<typeof integer>>,
  );

export const Overview = z
  .object({
    servers: z
      .object({
        total: integer(1),
        status: counts(SERVER_STATUSES),
        low_disk: z
          .object({ below_15_percent: integer(0), below_5_percent: integer(0) })
          .meta({ description: "How many servers have so little of their disk free; each counts once" }),
      })
      .optional(),
    instances: z
      .object({ total: integer(1), status: counts(INSTANCE_STATUSES), protection: counts(PROTECTION_STATUSES) })
      .optional(),
    backups: z.object({ total: integer(1), status: counts(BACKUP_STATUSES) }).optional(),
    operations: counts(OPEN_STATUSES).optional().meta({ description: "Operations that have not ended" }),
    revision: integer(42, "Rises with every change in the account, except the progress of an operation"),
    revisions: z
      .object({
        servers: integer(7).optional(),
        ssh_keys: integer(1).optional(),
        instances: integer(12).optional(),
        backups: integer(9).optional(),
        policies: integer(3).optional(),
        operations: integer(31).optional(),
        others: integer(2),
      })
      .meta({
        description:
          "The same by what is changed: each rises with a change of one of these records, `others` if it was none of these",
      }),
  })
  .meta({ id: "Overview" });
export type Overview = z.infer<typeof Overview>;

export const overview = {
  get: endpoint({
    method: "GET",
    path: "/overview",
    summary: "Show how much there is, by status",
    description:
      "Counts what the credential may read: `servers`, `instances` and `backups` each need their read permission, `operations` needs all three. " +
      "The counts are exact. Ask as often as you like with `If-None-Match`: as long as nothing has changed, the response is an empty `304`.",
    access: "credential",
    unversioned: [],
    data: Overview,
  }),
};

const SearchResult = z
  .object({
    type: z.enum(RESOURCE_TYPES).meta({ examples: ["instance"] }),
    id: z.string().meta({ examples: ["ins_01kag8w1s2e7tv8q4m5n6p7r8s"] }),
    name: z
      .string()
      .meta({ description: "A backup has the name that its instance had; empty for an uploaded one", examples: ["Shop"] }),
    status: z.string().meta({ examples: ["running"] }),
    detail: z
      .string()
      .nullable()
      .meta({ description: "An instance's domain, a backup's note", examples: ["shop.example.com"] }),
    created_at: timestamp,
  })
  .meta({ id: "SearchResult" });

const LIMIT_MAX = 50;

export const search = {
  find: endpoint({
    method: "GET",
    path: "/search",
    summary: "Find servers, instances and backups",
    description:
      "Finds what has words that begin with each word of `q`, in name, domain, database name, note, or what has this ID, IP address or email. Case, accents and apostrophes are ignored. " +
      "Names that are `q` come first, then those that begin with it, then the rest; among equals, instances before servers before backups, and the newest first. Each kind needs its read permission and is left out without it.",
    access: "credential",
    query: z.strictObject({
      q: searchWords.meta({ description: "What to find", examples: ["shop"] }),
      limit: queryInteger(1, LIMIT_MAX)
        .default(10)
        .meta({ description: `How many to return, at most ${LIMIT_MAX}`, examples: [10] }),
    }),
    data: z.array(SearchResult),
  }),
};
