// The values of the form that sets an instance's code, and what becomes of them.
import type { Code } from "../../../shared/api/code.ts";

const ACCESSES = ["public", "deploy_key", "token"] as const;
type Access = (typeof ACCESSES)[number];

const isSsh = (url: string): boolean => url.trim().startsWith("ssh:");

/** What a repository of this URL can be read with; also what it is stored with by an earlier version of the service. */
export const accessesFor = ({ url, access }: Pick<RepositoryValues, "url" | "access">): Access[] =>
  ACCESSES.filter((each) => each === access || (each === "deploy_key") === isSsh(url));

/** Another URL, with the kind of access that fits it. */
export const withUrl = ({ access }: Pick<RepositoryValues, "access">, url: string): Pick<RepositoryValues, "url" | "access"> => ({
  url,
  access: isSsh(url) ? "deploy_key" : access === "deploy_key" ? "public" : access,
});

export interface RepositoryValues {
  url: string;
  ref: string;
  path: string;
  access: Access;
  username: string;
  token: string;
}

export interface VariableValues {
  name: string;
  isHidden: boolean;
  value: string;
  /** The value of a hidden variable: a field of this name is in no draft. */
  secret: string;
}

export interface Values {
  repositories: RepositoryValues[];
  packages: string;
  sources: boolean;
  modules: string;
  environment: VariableValues[];
  push: boolean;
  newest: boolean;
}

/** An older service says nothing of images. */
export const followsNewest = ({ image }: Partial<Code>): boolean => image?.follow === "newest";

export const toValues = (code: Code): Values => ({
  repositories: code.repositories.map(({ url, ref, path, credential }) => ({
    url,
    ref,
    path: path ?? "",
    access: credential === null ? "public" : credential === "deploy_key" ? "deploy_key" : "token",
    username: credential === null || credential === "deploy_key" ? "" : credential.username,
    token: "",
  })),
  packages: code.python_packages.join("\n"),
  sources: code.allow_source_builds,
  modules: code.install_modules.join("\n"),
  environment: code.environment.map(({ name, value }) => ({
    name,
    isHidden: value === undefined,
    value: value ?? "",
    secret: "",
  })),
  push: code.auto_deploy === "push",
  newest: followsNewest(code),
});

export const toBody = ({ repositories, packages, sources, modules, environment, push, newest }: Values) => ({
  repositories: repositories.map(({ url, ref, path, access, username, token }) => ({
    url: url.trim(),
    ref: ref.trim(),
    path: path.trim() === "" ? null : path.trim(),
    credential:
      access === "public"
        ? null
        : access === "deploy_key"
          ? ("deploy_key" as const)
          : { username: username.trim(), ...(token !== "" && { token }) },
  })),
  python_packages: linesIn(packages),
  allow_source_builds: sources,
  install_modules: wordsIn(modules),
  environment: environment.map(({ name, isHidden, value, secret }) => ({
    name: name.trim(),
    ...(!isHidden ? { value } : secret !== "" && { secret }),
  })),
  auto_deploy: push ? ("push" as const) : ("off" as const),
  image: { follow: newest ? ("newest" as const) : ("pinned" as const) },
});

type Labels = Readonly<Record<"repositories" | "packages" | "sources" | "modules" | "variables" | "push" | "newest", string>>;
type Words = Labels & Readonly<{ accesses: Readonly<Record<Access, string>>; on: string; off: string }>;

/** What others changed meanwhile, in words. */
export function inWords({ repositories, packages, modules, environment, ...values }: Values, say: Words): Record<string, string> {
  const onOrOff = (isOn: boolean): string => (isOn ? say.on : say.off);
  return {
    [say.repositories]: repositories
      .map(({ url, ref, path, access, username }) => [url, ref, path, say.accesses[access], username].join(" ").trimEnd())
      .join(", "),
    [say.packages]: packages,
    [say.sources]: onOrOff(values.sources),
    [say.modules]: modules,
    [say.variables]: environment.map(({ name, isHidden, value }) => `${name}=${isHidden ? "…" : value}`).join(", "),
    [say.push]: onOrOff(values.push),
    [say.newest]: onOrOff(values.newest),
  };
}

/** One a line, or with commas between them. */
export const wordsIn = (lines: string): string[] => lines.split(/[\s,]+/).filter((word) => word !== "");
const linesIn = (lines: string): string[] =>
  lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
