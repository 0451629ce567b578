// Which modules an image of the ERP has, and which installed ones it lacks.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MISSING_MODULES_MAX, missingModules } from "../../shared/domain/missing-modules.ts";

test.each([
  ["19.0.1.3", null, true],
  ["", null, true],
  [null, null, true],
  ["19.0.1.4", "19.0.1.3", true],
  ["19.0.1.10", "19.0.1.9", true],
  ["19.0.1.3.1", "19.0.1.3", true],
  ["20.0.1.0", "19.0.1.3", true],
  ["19.0.1.3", "19.0.1.3.0", false],
  ["19.0.1.3", "19.0.1.4", false],
  ["18.0.9.9", "19.0.1.0", false],
  [null, "19.0.1.3", false],
  ["beta", "19.0.1.3", false],
])("a database with version %s of a module lacks it in an image with %s: %s", (version, image_version, isMissing) => {
  expect(missingModules([{ name: "base", version, image_version }])).toEqual(isMissing ? ["base"] : []);
});

test("a database with thousands of modules names only some of them", () => {
  const many = Array.from({ length: 5000 }, (_, index) => ({ name: `module_${index}`, version: null, image_version: null }));
  expect(missingModules(many)).toHaveLength(MISSING_MODULES_MAX);
});

test("an image's modules are those with a manifest that can be installed, and none of their code is run", () => {
  const folder = mkdtempSync(join(tmpdir(), "modules-"));
  try {
    const add = (place: string, name: string, manifest: string): void => {
      mkdirSync(join(folder, place, name), { recursive: true });
      writeFileSync(join(folder, place, name, "__manifest__.py"), manifest);
    };
    const addons = "site/odoo/addons";
    add(addons, "base", "# the base\n{'name': 'Base', 'version': '1.3'}");
    add(addons, "account", "{'version': '19.0.1.4', 'depends': ['base']}");
    add(addons, "unversioned", "{'name': 'Unversioned'}");
    add(addons, "shadowed", "{'version': '1.0'}");
    add("enterprise", "shadowed", "{'version': '2.0'}");
    add(addons, "old", "{'version': '1.0', 'installable': False}");
    add(addons, "hostile", `__import__('os').system('touch ${folder}/ran')`);
    add(addons, "broken", "{'version':");
    writeFileSync(join(folder, addons, "file"), "");
    writeFileSync(join(folder, "site/odoo/__init__.py"), `open('${folder}/ran', 'w')\n`);
    const program = new URL("../../shared/hosts/script/modules.py", import.meta.url);
    const listed = execFileSync("python3", ["-", "19.0", join(folder, "enterprise"), join(folder, "nothing-here")], {
      input: readFileSync(program),
      encoding: "utf8",
      env: { PATH: process.env["PATH"], PYTHONPATH: join(folder, "site") },
    });
    expect(JSON.parse(listed)).toEqual({
      base: "19.0.1.3",
      account: "19.0.1.4",
      unversioned: "19.0.1.0",
      shadowed: "19.0.2.0",
    });
    expect(() => readFileSync(join(folder, "ran"))).toThrow("ENOENT");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
