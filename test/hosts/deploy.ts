// A machine with an ERP and its databases, and the jobs of a deploy on it.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type MachineWithJobs, machineWithJobs } from "./jobs.ts";
import { PAGES } from "./machine.ts";

export const HASH = "a".repeat(40);
export const CODE = {
  subjects: ["Prices"],
  problems: [],
  folders: ["1-acme"],
  modules: [{ name: "acme", version: "19.0.1.0", hash: HASH, repository: 0 }],
  known_hosts: ["git.example.com ssh-ed25519 AAAA"],
};
export const ACME = { name: "acme", version: "19.0.1.0", changed: true, database_version: null, repository: 0 };
export const REPOSITORY = { url: "https://git.example.com/acme", ref: "main", path: null, commit: "1".repeat(40) };

/** The builder, and an ERP that updates its modules, or fails after it has changed some of its data. */
const DOCKER = `case "$*" in
  *"--entrypoint sh "*pip*)
    echo "$*" >> $NOTES/builds
    cat >> $NOTES/requirements
    [ ! -e $NOTES/build-fails ] || { echo "No matching distribution" >&2; exit 1; }
    if [ -e $NOTES/endless-build ]; then exec cat /dev/zero; fi
    tar -c -C $NOTES/built . ;;
  *"--entrypoint sh "*"tar -cS ."*) [ ! -e $NOTES/disk-full ] && tar -c -C $NOTES databases ;;
  *"--entrypoint sh "*"-delete && tar -x"*) tar -x -C $NOTES ;;
  *"du -sk"*) echo "64 ." ;; # kilobytes
  *"--entrypoint tar "*) tar -x -C $NOTES/installed ;;
  *"-builder "*python3* | *"-check "*python3*)
    cat > $NOTES/request
    [ ! -e $NOTES/endless-repository ] || sleep 600
    cat $NOTES/code ;;
  *"--entrypoint cp "*)
    echo "$*" >> $NOTES/copies
    [ ! -e $NOTES/during-copy ] || bash $NOTES/during-copy ;;
  "network inspect erp-builder") [ ! -e $NOTES/no-network ] ;;
  "network create"*"erp-builder") sleep 1; rm $NOTES/no-network ;;
  "image ls"*) cat $NOTES/unused 2> /dev/null ;;
  "image rm"*) echo "$*" >> $NOTES/removed-images ;;
  *"pull -q odoo@"*) echo "$*" >> $NOTES/pulls && [ ! -e $NOTES/registry ] || touch $NOTES/pulled ;;
  "volume rm"*) echo "$*" >> $NOTES/removed-volumes ;;
  compose*erp-ins_1*" up -V -d") echo "$*" >> $NOTES/starts ;;
  *"--entrypoint odoo"*)
    echo "$*" >> $NOTES/updates
    [ ! -e $NOTES/during-update ] || bash $NOTES/during-update
    [ ! -e $NOTES/update-fails ] || { echo "ValueError: no such field"; exit 1; } ;;
esac`;

export let jobs: MachineWithJobs;
export let code_id: string;

/** Starts a machine before the tests of a suite, and leaves nothing of one test to the next. */
export function startDeploys(): void {
  beforeAll(async () => {
    jobs = await machineWithJobs();
    jobs.machine.standIn("nsenter", PAGES);
    jobs.machine.docker(DOCKER);
  });
  beforeEach(() => {
    jobs.begin();
    nextDeploy();
    writeFileSync(note("databases"), "shop 7\n");
    writeFileSync(note("code"), JSON.stringify(CODE));
  });
  afterEach(() => jobs.end());
  afterAll(() => jobs.machine.stop());
}

export const note = (name: string): string => join(jobs.machine.notes, name);
export const here = (...path: string[]): string => join(jobs.machine.root, "instances/ins_1", ...path);
export const fact = (name: string): string => (existsSync(here(name)) ? readFileSync(here(name), "utf8") : "");
export const databases = (): Record<string, string> =>
  Object.fromEntries(
    readFileSync(note("databases"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => line.split(" ")),
  );

/** The jobs after this are those of another deploy. */
export function nextDeploy(): void {
  code_id = `op_deploy_${randomBytes(4).toString("hex")}`;
}

export const ERP = { instance_id: "ins_1" };
export const fetchCode = (token = "very-secret", value = "also-secret $HOME") =>
  jobs.run<"fetch_code">({
    kind: "fetch_code",
    ...ERP,
    code_id,
    repositories: [{ ...REPOSITORY, credential: { username: "deploy", token } }],
    environment: [{ name: "CARRIER_KEY", value }],
    named_modules: ["acme"],
    keep: true,
  });
export const installPackages = () =>
  jobs.run<"install_packages">({ kind: "install_packages", ...ERP, code_id, packages: [], allow_source_builds: false });
export const PLAN = { update: ["acme"], install: [] };
export const keepData = () => jobs.run<"keep_data">({ kind: "keep_data", ...ERP, code_id });
export const updateModules = () => jobs.run<"update_modules">({ kind: "update_modules", ...ERP, code_id, ...PLAN });
export const settleCode = () => jobs.run<"settle_code">({ kind: "settle_code", ...ERP, code_id, restored: false });
export const undoCode = () => jobs.run<"undo_code">({ kind: "undo_code", ...ERP, code_id, start: true });
export const bringCode = (to: string, from: { instance_id: string; code_id: string } | undefined) =>
  jobs.run<"bring_code">({
    kind: "bring_code",
    ...ERP,
    code_id: to,
    code: {
      repositories: [{ ...REPOSITORY, credential: { username: "deploy", token: "very-secret" } }],
      packages: [],
      allow_source_builds: false,
      environment: [{ name: "CARRIER_URL", value: "https://carrier.example" }],
      from,
    },
  });
/** A check of the code, which keeps nothing of it. */
export const CHECK = {
  kind: "fetch_code",
  ...ERP,
  repositories: [{ ...REPOSITORY, credential: null }],
  code_id: "op_check",
  environment: [],
  named_modules: [],
  keep: false,
} as const;
