// What the data endpoint shows of a sandbox instance's ERP: what people wrote in it, and its modules that are not the image's.
import { type ErpDatabase, readSandboxData, type SandboxErp } from "../../providers/sandbox/machines.ts";
import { modulesBeyondImage } from "./modules.ts";

export function showData(erp: SandboxErp, database: ErpDatabase): Record<string, unknown> {
  const modules = modulesBeyondImage(erp, database);
  return { ...readSandboxData(database), ...(Object.keys(modules).length > 0 && { modules }) };
}
