// The search finds servers, instances and backups by name and other fields.
import * as z from "zod";
import { RESOURCE_TYPES } from "../domain/lifecycle.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";

const SearchResult = z
  .object({
    type: z.enum(RESOURCE_TYPES).meta({ examples: ["instance"] }),
    id: z.string().meta({ examples: ["ins_01kag8w1s2e7tv8q4m5n6p7r8s"] }),
    name: z.string().meta({
      description:
        "A backup has the name that its instance had, an uploaded one that of its file, if the upload said it; else it is empty",
      examples: ["Shop"],
    }),
    status: z.string().meta({ examples: ["running"] }),
    detail: z
      .string()
      .nullable()
      .meta({ description: "An instance's domain, a backup's note", examples: ["shop.example.com"] }),
    created_at: fields.timestamp,
  })
  .meta({ id: "SearchResult" });

const LIMIT_MAX = 50;

export const find = () =>
  endpoint({
    method: "GET",
    path: "/search",
    summary: "Find servers, instances and backups",
    description:
      "Finds what has words that begin with each word of `q`, in name, domain, database name, note, or what has this ID, IP address or email, or is a server with this part of an IP address, and after those what has it in the middle of a word (from 3 characters on). Case, accents and apostrophes are ignored. " +
      "Names that are `q` come first, then those that begin with it, then the rest; among equals, instances before servers before backups, and the newest first. A backup's name does not put it first, and more than five backups come last. Each kind needs its read permission and is left out without it.",
    access: "credential",
    query: z.strictObject({
      q: fields.searchWords.meta({ description: "What to find", examples: ["shop"] }),
      limit: fields
        .queryInteger(1, LIMIT_MAX)
        .default(10)
        .meta({ description: `How many to return, at most ${LIMIT_MAX}`, examples: [10] }),
    }),
    data: z.array(SearchResult),
  });
