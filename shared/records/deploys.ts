// Deploys in the table: the newest of each instance, and the code as it was when they were requested.
import type { Deploy } from "../api/deploys.ts";
import type { Actor } from "../api/fields.ts";
import { notFound } from "../api/errors.ts";
import { type Change, Overtaken } from "../data/change.ts";
import { keys } from "../data/keys.ts";
import { type ByIds, type Listed, type PageQuery, smallPage } from "../data/pages.ts";
import { parseEach } from "../data/parse-each.ts";
import { find, readAll, type Ref, updateOne } from "../data/table.ts";
import { isId, newId } from "../domain/ids.ts";
import { DEPLOY_STATUS, type DeployStatus, OPEN_DEPLOYS } from "../domain/lifecycle.ts";
import { DEPLOY } from "../domain/limits.ts";
import { BASE, type ModulePlan } from "../domain/module-plan.ts";
import { type Author, toActor } from "./events.ts";
import type { CodeRecord } from "./schemas/code.ts";
import { DeployPlan, DeployRecord, type Image } from "./schemas/deploy.ts";
import type { OperationRecord } from "./schemas/operation.ts";

const deployRef = (accountId: string, id: string): Ref<DeployRecord> => ({
  key: keys.deploy(accountId, id),
  schema: DeployRecord,
});

/** Throws NotFound if there is none, also if it is no deploy's ID. */
export async function getDeploy(accountId: string, id: string): Promise<DeployRecord> {
  const deploy = isId("deploy", id) ? await find(deployRef(accountId, id)) : undefined;
  if (deploy === undefined) throw notFound("deploy");
  return deploy;
}

/** The code that a deploy brings. */
export async function getPlan(accountId: string, id: string): Promise<DeployPlan> {
  const plan = await find({ key: keys.deployPlan(accountId, id), schema: DeployPlan });
  if (plan === undefined) throw new Error(`The deploy ${id} has no plan`);
  return plan;
}

export async function listDeploys(
  { account_id, deploy_ids, instance_id }: CodeRecord,
  { status, ...page }: PageQuery & ByIds & { status?: DeployStatus | undefined },
): Promise<Listed<DeployRecord>> {
  const items = await readAll(deploy_ids.map((id) => keys.deploy(account_id, id)));
  const deploys = parseEach(DeployRecord, [...items.values()]);
  const filtered = deploys.filter((deploy) => status === undefined || deploy.status === status);
  return smallPage(filtered, page, `deploys:${instance_id}:${status ?? ""}`);
}

export const toDeploy = (record: DeployRecord): Deploy => record;

interface NewDeploy {
  operationId: string;
  choices: NonNullable<Deploy["choices"]>;
  note: string | null;
  /** What a rollback brings instead of the code as it is now. */
  rollback?: { code: CodeRecord; commits: string[]; packages: string[]; deploy: DeployRecord } | undefined;
  /** The image that it brings back. */
  image?: Image | undefined;
}

/** What began a deploy, by who did. */
const TRIGGERS: Partial<Record<Actor["type"], Deploy["trigger"]>> = { token: "token", hook: "push" };

const isInBulk = (by: Author): boolean => "inBulk" in by && by.inBulk;

/** Reserves a deploy of the code as it is now. Of the older ones, those that are one too many go. */
export function reserveDeploy(
  change: Change,
  by: Author,
  code: CodeRecord,
  { operationId, choices, note, rollback, image }: NewDeploy,
): DeployRecord {
  const { account_id, instance_id, deploy_ids, revision } = code;
  const created_by = toActor(by);
  const deploy: DeployRecord = {
    id: newId("deploy"),
    account_id,
    instance_id,
    operation_id: operationId,
    status: DEPLOY_STATUS.pending,
    trigger: rollback !== undefined ? "rollback" : isInBulk(by) ? "bulk" : (TRIGGERS[created_by.type] ?? "person"),
    note,
    choices,
    commits: [],
    modules: null,
    image: null,
    python_packages: [],
    rehearsal: null,
    backup_id: null,
    downtime_seconds: null,
    failed_step: null,
    log_excerpt: null,
    created_by,
    created_at: change.at,
    completed_at: null,
  };
  const [newest, oldest] = [deploy_ids.slice(0, DEPLOY.recordsMax - 1), deploy_ids.slice(DEPLOY.recordsMax - 1)];
  change.put(keys.deploy(account_id, deploy.id), deploy);
  change.put(keys.deployPlan(account_id, deploy.id), {
    code: rollback?.code ?? code,
    select: choices.modules,
    ...(rollback !== undefined && {
      commits: rollback.commits,
      ...(rollback.packages.length > 0 && { packages: rollback.packages }),
      subjects: rollback.deploy.commits.map(({ subject }) => subject),
      code_id: rollback.deploy.operation_id,
    }),
    ...(image !== undefined && { image }),
  });
  // The plan of what the ERP has is needed as long as it has that.
  for (const id of oldest) removeDeploy(change, id, { withPlan: id !== code.deployed?.deploy_id });
  change.update(
    keys.code(account_id, instance_id),
    { set: { account_id, instance_id, deploy_ids: [deploy.id, ...newest] } },
    // A repository that was just removed, and a push that was just switched off, begin no deploy any more.
    { exists: false, unchanged: { deploy_ids, revision } },
    () =>
      new Overtaken("Another request changed the code or began a deploy at the same time; try again if you need to", instance_id),
  );
  change.ifWithdrawn((withdrawal) => {
    removeDeploy(withdrawal, deploy.id);
    withdrawal.update(keys.code(account_id, instance_id), { set: { deploy_ids: newest } }, { exists: false });
  });
  return deploy;
}

function removeDeploy(change: Change, id: string, { withPlan = true } = {}): void {
  change.remove(keys.deploy(change.accountId, id), { exists: false });
  if (withPlan) change.remove(keys.deployPlan(change.accountId, id), { exists: false });
}

/** What the deploy updates and installs. */
export async function setModules(
  { account_id, input }: OperationRecord,
  { updated, installed }: Pick<ModulePlan, "updated" | "installed">,
  { versions, unchanged_versions, sources }: Pick<DeployPlan, "versions" | "unchanged_versions" | "sources">,
): Promise<void> {
  const set = { update: updated, install: installed, versions, unchanged_versions, sources };
  await updateOne(keys.deployPlan(account_id, String(input["deploy_id"])), { set }, {});
}

/** The versions in which the database has the modules of the code after the deploy. */
export const databaseVersions = ({ versions, unchanged_versions, update }: DeployPlan): DeployPlan["versions"] =>
  update.includes(BASE) ? versions : { ...versions, ...unchanged_versions };

/** Has the ERP update everything. */
export async function planFullUpdate({ account_id, input }: OperationRecord): Promise<void> {
  const deployId = String(input["deploy_id"]);
  const { update } = await getPlan(account_id, deployId);
  if (update.includes(BASE)) return;
  await updateOne(keys.deployPlan(account_id, deployId), { set: { update: [BASE, ...update] } }, {});
}

/** Keeps which packages were installed, for rollbacks to this deploy. */
export async function recordPackages({ account_id, input }: OperationRecord, packages: readonly string[]): Promise<void> {
  await updateOne(keys.deployPlan(account_id, String(input["deploy_id"])), { set: { packages } }, {});
}

/** Keeps with which image the ERP started, for rollbacks to this deploy. */
export async function recordStartedImage({ account_id, input }: OperationRecord, started_with: Image): Promise<void> {
  await updateOne(keys.deployPlan(account_id, String(input["deploy_id"])), { set: { started_with } }, {});
}

/** What a step of its operation has found out. */
export async function updateDeploy(
  { account_id, input }: OperationRecord,
  set: Partial<Omit<DeployRecord, "id" | "account_id" | "instance_id">>,
): Promise<void> {
  await updateOne(keys.deploy(account_id, String(input["deploy_id"])), { set }, { oneOf: { status: OPEN_DEPLOYS } });
}
