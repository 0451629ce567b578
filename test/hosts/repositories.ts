// The program that reads repositories in the builder, and real git servers on loopback. Only the builder's container is missing.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import * as z from "zod";
import { JOB_RESULTS } from "../../shared/hosts/host.ts";
import { reasonIn } from "../../shared/domain/reasons.ts";
import { type GitServers, startGitServers } from "./git-servers.ts";

/** The builder's memory, as much as its container has. */
const MEMORY = 1024 ** 3;
export const PROGRAM = new URL("../../shared/hosts/script/code.py", import.meta.url).pathname;
export const Resolved = JOB_RESULTS.resolve_code.extend({ known_hosts: z.array(z.string()) });
const Fetched = z.object({
  subjects: z.array(z.string().nullable()),
  problems: JOB_RESULTS.fetch_code.shape.problems,
  modules: z.array(z.object({ name: z.string(), version: z.string(), hash: z.string(), repository: z.number() })),
  folders: z.array(z.string()),
  known_hosts: z.array(z.string()),
});

interface Repository {
  url: string;
  ref?: string;
  path?: string;
  credential?: object;
  commit?: string;
}

/** The limits that replace those of the builder's container. */
interface Limits {
  MEMORY?: string;
  PATH?: string;
  CODE_BYTES_MAX?: string;
  FILE_BYTES_MAX?: string;
  CODE_SECONDS?: string;
  CODE_LOOK_SECONDS?: string;
}

export let servers: GitServers;
/** The folder that modules are written to. */
export let place: string;
let count = 0;

/** Starts git servers before the tests of a suite, and leaves nothing of one test to the next. */
export function startRepositories(): void {
  beforeAll(async () => {
    servers = await startGitServers();
  });
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), "code-"));
    count += 1;
  });
  afterEach(() => {
    servers.requirePassword(undefined);
    servers.redirectTo(undefined);
    servers.repeatCredentials(false);
    servers.stallAfter(undefined);
    rmSync(place, { recursive: true, force: true });
  });
  afterAll(() => servers.stop());
}

/** Replaces the folder with an empty one. */
export function renewPlace(): void {
  rmSync(place, { recursive: true, force: true });
  place = mkdtempSync(join(tmpdir(), "code-"));
}

/** Each test has a repository of its own. */
export const name = () => `repo-${count}`;
export const url = (repository = name()) => `${servers.http}/${repository}`;
export const runProgram = async (
  words: string[],
  repositories: Repository[],
  known_hosts: string[] = [],
  more: Limits = {},
  inPlace: string[] = [],
) => {
  const limits = [
    `--as=${more.MEMORY ?? MEMORY}`,
    ...(more.FILE_BYTES_MAX === undefined ? [] : [`--fsize=${more.FILE_BYTES_MAX}`]),
  ];
  const [command = "", ...rest] = [...inPlace, "prlimit", ...limits, "python3", "-I", PROGRAM, ...words];
  const running = promisify(execFile)(command, rest, {
    env: { PATH: process.env["PATH"], CODE_PROTOCOLS: "http:https:ssh", ...more },
  });
  const complete = repositories.map((each) => ({ ref: "main", path: null, credential: null, commit: "", ...each }));
  running.child.stdin?.end(JSON.stringify({ repositories: complete, known_hosts }));
  return JSON.parse((await running).stdout) as unknown;
};
export const resolveCode = async (repositories: Repository[], known_hosts?: string[], more?: Limits) =>
  Resolved.parse(await runProgram(["resolve"], repositories, known_hosts, more));
export const fetchCode = async (repositories: Repository[], more?: Limits) =>
  Fetched.parse(await runProgram(["fetch", "19.0", place], repositories, [], more));
export const manifest = (version = "1.0") => `{'name': 'Acme', 'version': '${version}'}`;
/** The one problem of a repository, as the API says it. */
export const problemOf = async (repository: Repository, more?: Limits) => {
  const { problems } = await fetchCode([repository], more);
  const [problem] = problems;
  expect(problems).toHaveLength(1);
  return { code: problem?.code, module: problem?.module, reason: reasonIn(problem?.problem ?? "")?.code };
};
