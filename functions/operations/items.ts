// GET /operations/:id/items
import * as operations from "../../shared/api/operations.ts";
import { isCreatedIn, slicePage } from "../../shared/data/pages.ts";
import { isOpen } from "../../shared/domain/lifecycle.ts";
import { findBulk, toOperationItem } from "../../shared/records/bulk.ts";
import { getOperation, permissionsToRead } from "../../shared/records/operations.ts";
import { handle, requirePermission } from "../../shared/runtime/handle.ts";

export const handler = handle(operations.items)(async ({ params, query: { status, ...page }, caller }) => {
  const operation = await getOperation(caller.account_id, params.id);
  if (operation.created_by.id !== caller.id)
    for (const permission of permissionsToRead(operation)) requirePermission(caller, permission);
  const bulkAction = isCreatedIn(page)(operation) ? await findBulk(caller.account_id, operation.id) : undefined;
  const items = (bulkAction?.items ?? []).flatMap((item) => {
    const listed = bulkAction && toOperationItem(bulkAction.bulk.type, item, isOpen(operation.state));
    const isMeant = listed !== undefined && (status === undefined || status === listed.status);
    return isMeant ? [{ value: listed, sortKey: String(item.index).padStart(4, "0") }] : [];
  });
  return slicePage(items, { ...page, order: page.order ?? "asc" }, `${operation.id}:${status ?? ""}`);
});
