// Which deployment this is: two of them may share an account at a provider, and each must leave the other's machines alone.
import { randomBytes } from "node:crypto";
import * as z from "zod";
import { env } from "../platform/env.ts";
import { keys } from "../data/keys.ts";
import { find, putIfAbsent } from "../data/table.ts";

const RANDOM_BYTES = 6;
const Installation = z.object({ id: z.string() });
let cached: string | undefined;

/** A label that providers accept: letters, digits and hyphens. It lives as long as the table. */
export async function deployment(): Promise<string> {
  cached ??= `erp-${env().ENVIRONMENT}-${await installation()}`;
  return cached;
}

async function installation(): Promise<string> {
  const ref = { key: keys.installation(), schema: Installation };
  const stored = await find(ref);
  if (stored !== undefined) return stored.id;
  const id = randomBytes(RANDOM_BYTES).toString("hex");
  if (await putIfAbsent(ref.key, { id })) return id;
  return (await find(ref))?.id ?? id;
}
