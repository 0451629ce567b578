// What is shown of an ERP's health: only while it should run on an active server does anybody look.
import { type Health, HEALTH_CHECKS } from "../api/instances.ts";
import { HEALTH_OF_ERP, SERVING, USABLE } from "../domain/lifecycle.ts";
import { because, type Reason } from "../domain/reasons.ts";
import type { InstanceRecord } from "./schemas/instance.ts";
import type { ServerRecord } from "./schemas/server.ts";

type Server = Pick<ServerRecord, "state"> | undefined;

/** A server that was not read is taken for active. */
const isWatched = ({ state }: InstanceRecord, server: Server): boolean =>
  SERVING.includes(state) && (server === undefined || USABLE.includes(server.state));

export function deriveHealth(instance: InstanceRecord, server: Server): Health {
  const { health_status: status, health_since: since, health_fault: fault } = instance;
  if (!isWatched(instance, server) || status === HEALTH_OF_ERP.unknown)
    return { status: HEALTH_OF_ERP.unknown, since, checks: [] };
  const failed = HEALTH_CHECKS.findIndex((name) => name === fault);
  const hasPassed = (index: number): boolean | null => (failed === -1 || index < failed ? true : index === failed ? false : null);
  return { status, since, checks: HEALTH_CHECKS.map((name, index) => ({ name, passed: hasPassed(index) })) };
}

const FAULTS: Readonly<Record<string, Reason>> = {
  proxy: because("health_proxy"),
  page: because("health_page"),
  stylesheet: because("health_stylesheet"),
  script: because("health_script"),
};

const NAMED_MAX = 10;

/** Why an instance that runs is not as it should be. */
export function reasonOfHealth(instance: InstanceRecord, server: Server): Reason | null {
  const { health_status, health_fault, unfinished_modules: modules, state } = instance;
  if (!SERVING.includes(state)) return null;
  if (isWatched(instance, server) && health_status === HEALTH_OF_ERP.failing)
    return FAULTS[health_fault ?? ""] ?? because("health_failing");
  if (modules.length === 0) return null;
  const moduleNames = modules.slice(0, NAMED_MAX).join(", ");
  const count = modules.length - NAMED_MAX;
  return count > 0
    ? because("more_modules_interrupted", { modules: moduleNames, count })
    : because("modules_interrupted", { modules: moduleNames });
}
