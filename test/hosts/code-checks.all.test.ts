// Checks of an ERP's code on a machine: what they compare, and that they change nothing and leave nothing behind.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ssh } from "../../shared/hosts/ssh.ts";
import { unless } from "../harness/unless.ts";
import {
  ACME,
  bringCode,
  CHECK,
  CODE,
  code_id,
  databases,
  ERP,
  fact,
  fetchCode,
  HASH,
  here,
  installPackages,
  jobs,
  keepData,
  note,
  startDeploys,
  undoCode,
  updateModules,
} from "./deploy.ts";
import { noMachine, until } from "./machine.ts";

describe("a deploy", unless(noMachine), () => {
  startDeploys();

  test("a check beside a deploy changes nothing of it, and keeps nothing", async () => {
    await fetchCode();
    await installPackages();
    await keepData();
    const before = [databases(), fact(`codes/${code_id}/progress`)];
    const checked = await jobs.run<"fetch_code">(CHECK);
    expect(checked).toMatchObject({ modules: [ACME], compared_with: "" });
    expect([databases(), fact(`codes/${code_id}/progress`)]).toEqual(before);
    expect(readdirSync(here("codes"))).toEqual([code_id]);
    await updateModules();
    await undoCode();
  });

  test("a check compares with the code that the ERP has", async () => {
    await bringCode("op_before", undefined);
    const modules = [...CODE.modules, { name: "prices", version: "19.0.1.0", hash: HASH, repository: 0 }];
    writeFileSync(note("code"), JSON.stringify({ ...CODE, modules }));
    expect(await jobs.run<"fetch_code">(CHECK)).toMatchObject({
      modules: [
        { name: "acme", changed: false },
        { name: "prices", changed: true },
      ],
      compared_with: "op_before",
    });
    writeFileSync(here("codes/op_before/modules"), ""); // as a machine that lost its power may leave it
    expect(await jobs.run<"fetch_code">(CHECK)).toMatchObject({ compared_with: null });
  });

  test("two first checks at once make the builder's network once", async () => {
    writeFileSync(note("no-network"), "");
    writeFileSync(note("code"), JSON.stringify({ commits: [], known_hosts: [] }));
    const resolve = () => jobs.run<"resolve_code">({ kind: "resolve_code", ...ERP, repositories: [], hold: false });
    expect(await Promise.all([resolve(), resolve()])).toEqual([{ commits: [] }, { commits: [] }]);
  });

  test("a host's key is forgotten once no repository of it is left, by whatever looks up all of them", async () => {
    writeFileSync(note("code"), JSON.stringify({ ...CODE, commits: [], known_hosts: [] }));
    const [key, of22, other] = ["git.example.com ssh-ed25519 AAAA", "[old.example]:2222 ssh-ed25519 BBBB", "x.example ssh-rsa C"];
    writeFileSync(here("known_hosts"), `${key}\n${of22}\n${other}\n`);
    await jobs.run<"fetch_code">({ ...CHECK, repositories: [] });
    expect(fact("known_hosts")).toBe(`${key}\n${of22}\n${other}\n`);
    const at = (url: string) => ({ url, ref: "main", path: null, credential: null });
    const resolve = (urls: string[], trust_new_host_keys = false) =>
      jobs.run<"resolve_code">({ kind: "resolve_code", ...ERP, repositories: urls.map(at), hold: false, trust_new_host_keys });
    await resolve(["ssh://git@git.example.com/acme", "https://x.example/acme", "ssh://git@old.example:2222/acme"]);
    expect(fact("known_hosts")).toBe(`${key}\n${of22}\n`);
    await resolve(["ssh://git@git.example.com/acme"], true);
    expect(fact("known_hosts")).toBe("");
    writeFileSync(here("known_hosts"), `${key}\n`);
    await resolve([]);
    expect(fact("known_hosts")).toBe("");
  });

  const removedVolumes = (): string[] => readFileSync(note("removed-volumes"), "utf8").trimEnd().split("\n");

  test("a check leaves nothing on the disk if it fails", async () => {
    writeFileSync(note("code"), "no JSON");
    await expect(jobs.run<"fetch_code">(CHECK)).rejects.toMatchObject({ code: "HOST_JOB_FAILED" });
    expect(removedVolumes()).toEqual(Array.from({ length: 2 }, () => "volume rm -f erp-ins_1_check"));
  });

  test("a check that is ended does not go on in its container, which no job on the instance ends", async () => {
    writeFileSync(note("endless-repository"), "");
    const id = `op_${code_id}-inspectCode`;
    await ssh.run(jobs.machine.server, { ...CHECK, id });
    await until("the builder runs", () => existsSync(note("request")));
    rmSync(note("removed-volumes"), { force: true });
    await jobs.run<"start_erp">({ kind: "start_erp", ...ERP, ends: [id] });
    // The job itself may have ended it, too.
    expect(new Set(removedVolumes())).toEqual(new Set(["volume rm -f erp-ins_1_check"]));
  });
});
