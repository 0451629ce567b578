// The code of a backup or of an earlier deploy: it is copied where the machine still has it, else fetched.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { unless } from "../harness/unless.ts";
import {
  ACME,
  bringCode,
  CHECK,
  CODE,
  code_id,
  ERP,
  fact,
  fetchCode,
  HASH,
  here,
  installPackages,
  jobs,
  keepData,
  nextDeploy,
  note,
  REPOSITORY,
  settleCode,
  startDeploys,
  updateModules,
} from "./deploy.ts";
import { noMachine } from "./machine.ts";

describe("a deploy", unless(noMachine), () => {
  startDeploys();

  test("the code of a backup is fetched, or copied where the machine has it, and the ERP runs with it", async () => {
    await bringCode("op_fetched", { instance_id: "ins_other", code_id: "op_gone" });
    expect(readFileSync(note("request"), "utf8")).toContain(`"commit":"${REPOSITORY.commit}"`);
    expect([fact("code"), fact("codes/op_fetched/addons")]).toEqual(["op_fetched", "/mnt/extra-addons/1-acme"]);
    rmSync(note("request"));
    await bringCode("op_copied", { instance_id: "ins_1", code_id: "op_fetched" });
    expect(existsSync(note("request"))).toBe(false);
    const copies = readFileSync(note("copies"), "utf8");
    for (const part of ["code", "python"])
      expect(copies).toContain(`-v erp-ins_1_${part}_op_fetched:/from:ro -v erp-ins_1_${part}_op_copied:/to --entrypoint cp`);
    expect(copies).toMatch(/--network none --cap-drop ALL .*--user 65534:65534/);
    expect(fact("codes/op_copied/modules")).toBe(fact("codes/op_fetched/modules"));
    await jobs.run<"start_erp">({ kind: "start_erp", ...ERP });
    expect(fact("compose.yaml")).toContain("code: { name: erp-ins_1_code_op_copied, external: true }");
    expect(fact("compose.yaml")).toContain(`"CARRIER_URL": "https://carrier.example"`);
  });

  test("code that is copied keeps its Python packages, as long as they are the same and for the same image", async () => {
    const from = { instance_id: "ins_1", code_id };
    const install = (to: string, list: string[]) =>
      jobs.run<"install_packages">({ kind: "install_packages", ...ERP, code_id: to, packages: list, allow_source_builds: false });
    const copied = async (to: string) => {
      await jobs.run<"fetch_code">({ ...CHECK, code_id: to, keep: true, from });
      rmSync(note("builds"), { force: true });
    };
    mkdirSync(note("built"), { recursive: true });
    mkdirSync(note("installed"), { recursive: true });
    const listed = "printf '%s\\n' num2words==0.5.13 docopt==0.6.2";
    writeFileSync(note("before-files"), `case "$*" in *" list --path /python "*) ${listed} ;; esac`);
    await fetchCode();
    expect(await install(code_id, ["num2words>=0.5"])).toEqual({ packages: ["num2words==0.5.13", "docopt==0.6.2"] });
    expect(existsSync(note("builds"))).toBe(true);
    rmSync(here(`codes/${code_id}/progress`)); // it is no deploy in progress
    await copied("op_back");
    expect(await install("op_back", ["num2words==0.5.13", "docopt==0.6.2"])).toEqual({
      packages: ["num2words==0.5.13", "docopt==0.6.2"],
    });
    expect(existsSync(note("builds"))).toBe(false);
    await copied("op_other");
    await install("op_other", ["num2words==0.5.13"]);
    expect(existsSync(note("builds"))).toBe(true);
    await copied("op_image");
    writeFileSync(here("codes/op_image/image"), `sha256:${"7".repeat(64)}`);
    await install("op_image", ["num2words==0.5.13", "docopt==0.6.2"]);
    expect(existsSync(note("builds"))).toBe(true);
  });

  test("code that is removed while it is copied is fetched", async () => {
    await bringCode("op_fetched", undefined);
    rmSync(note("request"));
    writeFileSync(note("during-copy"), `rm -f ${here("codes/op_fetched/environment")}`);
    await bringCode("op_copied", { instance_id: "ins_1", code_id: "op_fetched" });
    expect(existsSync(note("request"))).toBe(true);
  });

  test("code that cannot be had any more is an error with the repository's problem", async () => {
    const problem = `The repository ${REPOSITORY.url} has no module`;
    const problems = [{ code: "CODE_INVALID", repository: 0, module: null, problem }];
    writeFileSync(note("code"), JSON.stringify({ ...CODE, problems, folders: [], modules: [] }));
    await expect(bringCode("op_invalid", undefined)).rejects.toMatchObject({
      code: "CODE_INVALID",
      message: expect.stringContaining(problem),
    });
    expect(fact("code")).toBe("");
    const moved = `The repository ${REPOSITORY.url} does not exist, or what it is read with may not read it`;
    const unreachable = [{ code: "CODE_UNREACHABLE", repository: 0, module: null, problem: moved }];
    writeFileSync(note("code"), JSON.stringify({ ...CODE, problems: unreachable, folders: [], modules: [] }));
    await expect(bringCode("op_unreachable", undefined)).rejects.toMatchObject({ code: "CODE_UNREACHABLE" });
  });

  test("code that the machine still has is not fetched again", async () => {
    await fetchCode();
    await installPackages();
    await keepData();
    await updateModules();
    await settleCode();
    const first = code_id;
    rmSync(note("request"));
    nextDeploy();
    const again = (from: string) =>
      jobs.run<"fetch_code">({
        kind: "fetch_code",
        ...ERP,
        code_id,
        repositories: [{ ...REPOSITORY, credential: null }],
        environment: [],
        named_modules: [],
        keep: true,
        from: { instance_id: "ins_1", code_id: from },
      });
    expect(await again(first)).toEqual({
      subjects: [],
      problems: [],
      modules: [ACME],
      installed: [],
      image_changed: false,
      compared_with: null,
      missing: [],
    });
    expect(existsSync(note("request"))).toBe(false);
    expect(fact(`codes/${code_id}/addons`)).toBe("/mnt/extra-addons/1-acme");
    expect((await again("op_gone")).subjects).toEqual(["Prices"]);
    expect(existsSync(note("request"))).toBe(true);
  });

  test("an archive names the code that the ERP has, with a hash of each module", async () => {
    const code = { repositories: [REPOSITORY], python_packages: ["num2words==0.5.13"] };
    await bringCode("op_fetched", undefined);
    const { files: archived } = await jobs.backUp(code);
    const manifest = JSON.parse(new TextDecoder().decode(archived["manifest.json"])) as unknown;
    expect(manifest).toMatchObject({ code: { ...code, modules: { acme: HASH } } });
    const without = await jobs.backUp();
    expect(JSON.parse(new TextDecoder().decode(without.files["manifest.json"]))).not.toHaveProperty("code");
  });
});
