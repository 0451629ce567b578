// Bulk actions and their items, as tests ask for them.
import * as operations from "../../shared/api/operations.ts";
import { Operation } from "../../shared/api/operations.ts";
import type { TestAccount } from "../harness/account.ts";
import type { Client } from "../harness/client.ts";

const Items = operations.items().data;

export const bulk = (api: Client, body: Record<string, unknown>, query = "") => api.post(`/bulk${query}`, body);
export const begin = async (api: Client, body: Record<string, unknown>) => (await bulk(api, body)).as(Operation);
export const itemsOf = async (api: Client, id: string, query = "") =>
  (await api.get(`/operations/${id}/items${query}`)).as(Items);

/** The operation once it has ended. */
export async function ended(me: TestAccount, id: string, status?: "failed"): Promise<Operation> {
  await me.until(id, status);
  return (await me.api.get(`/operations/${id}`)).as(Operation);
}
