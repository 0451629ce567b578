// Which hosts there are, by the provider of their server. Nothing else knows.
import type { ServerRecord } from "../data/records.ts";
import type { Host } from "./host.ts";
import { sandboxHost } from "./sandbox.ts";

export function hostOf(server: ServerRecord): Host {
  if (server.provider === "sandbox") return sandboxHost;
  throw new Error(`There is no host for servers of ${server.provider} here`);
}
