// The form that sets an instance's code: changes of others are seen, the access fits the URL, and no draft has secrets.
import { expect, test } from "vitest";
import type { Code } from "../../shared/api/code.ts";
import { accessesFor, inWords, toBody, toValues, withUrl } from "../../dashboard/src/code/values.ts";
import { withoutSecrets } from "../../dashboard/src/resource/form/secrets.ts";

const SAY = {
  repositories: "Repositories",
  packages: "Packages",
  sources: "Sources",
  modules: "Modules",
  variables: "Variables",
  push: "Push",
  newest: "Newest",
  accesses: { public: "public", deploy_key: "key", token: "token" },
  on: "Yes",
  off: "No",
};

const BEFORE = {
  repositories: [
    { url: "https://git.example/acme", ref: "main", path: null, credential: { username: "deploy" } },
    { url: "https://git.example/other", ref: "main", path: null, credential: null },
  ],
  python_packages: ["num2words==0.5.13"],
  allow_source_builds: false,
  install_modules: ["acme"],
  environment: [{ name: "A", value: "1" }],
  auto_deploy: "off",
  image: { follow: "pinned" },
};
type Changed = typeof BEFORE;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the form reads of it is there
const valuesOf = (code: object) => toValues(code as Code);

const at = (code: Changed, fields: object) => ({ ...code, repositories: [{ ...code.repositories[0], ...fields }] });

test.each<[string, (code: Changed) => object]>([
  ["url", (code) => at(code, { url: "https://git.example/new" })],
  ["ref", (code) => at(code, { ref: "stable" })],
  ["path", (code) => at(code, { path: "addons" })],
  ["the way in", (code) => at(code, { credential: null })],
  ["username", (code) => at(code, { credential: { username: "ci" } })],
  ["python_packages", (code) => ({ ...code, python_packages: [] })],
  ["allow_source_builds", (code) => ({ ...code, allow_source_builds: true })],
  ["install_modules", (code) => ({ ...code, install_modules: [] })],
  ["the name of a variable", (code) => ({ ...code, environment: [{ name: "B", value: "1" }] })],
  ["the value of a variable", (code) => ({ ...code, environment: [{ name: "A", value: "2" }] })],
  ["whether a variable is secret", (code) => ({ ...code, environment: [{ name: "A" }] })],
  ["auto_deploy", (code) => ({ ...code, auto_deploy: "push" })],
  ["image", (code) => ({ ...code, image: { follow: "newest" } })],
])("a change of %s by somebody else is seen", (_, change) => {
  const [before, after] = [BEFORE, change(BEFORE)].map(valuesOf);
  if (before === undefined || after === undefined) throw new Error("There are no values");
  expect(toBody(after)).not.toEqual(toBody(before));
  expect(inWords(after, SAY)).not.toEqual(inWords(before, SAY));
});

test("what is on and off is said in words", () => {
  expect(inWords(valuesOf(BEFORE), SAY)).toMatchObject({ Sources: "No", Push: "No", Newest: "No" });
});

test("a repository is offered what its URL can be read with, and gets the deploy key with ssh", () => {
  expect(accessesFor({ url: "https://git.example/a", access: "public" })).toEqual(["public", "token"]);
  expect(accessesFor({ url: "ssh://git@git.example/a", access: "deploy_key" })).toEqual(["deploy_key"]);
  expect(accessesFor({ url: "https://git.example/a", access: "deploy_key" })).toEqual(["public", "deploy_key", "token"]);
  expect(withUrl({ access: "token" }, "ssh://git@git.example/a").access).toBe("deploy_key");
  expect(withUrl({ access: "deploy_key" }, "https://git.example/a").access).toBe("public");
  expect(withUrl({ access: "token" }, "https://git.example/b").access).toBe("token");
});

test("what is secret is in no draft, at any depth", () => {
  const typed = {
    password: "typed-secret",
    token_max_days: "30",
    repositories: [{ url: "https://git.example/a", username: "ci", token: "typed-secret" }],
    environment: [{ name: "A", isHidden: true, value: "", secret: "typed-secret" }],
  };
  expect(withoutSecrets(typed)).toEqual({
    token_max_days: "30",
    repositories: [{ url: "https://git.example/a", username: "ci", token: "" }],
    environment: [{ name: "A", isHidden: true, value: "", secret: "" }],
  });
});
