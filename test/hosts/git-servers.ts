// Git servers on loopback, with repositories that a test makes: git's own smart HTTP, and SSH with a key.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import ssh2 from "ssh2";
import { createKeyPair } from "../../shared/platform/key-pair.ts";

const BACKEND = "/usr/lib/git-core/git-http-backend";
/** Why there can be no git servers here; undefined if there can be. */
export const noGit = existsSync(BACKEND) ? undefined : "there is no git here";

/** A file's content, a link's target, or a whole tree of a hostile kind. */
type Files = Readonly<Record<string, string | { link: string } | { submodule: string }>>;

const SSH_USER = "git";
const AUTHOR = {
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.com",
};

interface Stall {
  bytes: number;
  breaks: boolean;
}

export interface GitServers {
  http: string;
  ssh: string;
  /** Requests of the HTTP server, with their headers. */
  requests: { url: string; authorization: string | undefined }[];
  /** Makes a commit of exactly these files, and returns its hash. */
  commit: (name: string, files: Files, options?: { branch?: string; message?: string }) => string;
  git: (name: string, ...words: string[]) => string;
  /** Makes a commit of a tree that each of these levels of names stands around, and returns its hash. */
  commitOf: (name: string, inmost: string, levels: readonly (readonly string[])[]) => string;
  /** Lets in only this. */
  requirePassword: (pair: string | undefined) => void;
  /** Sends all requests elsewhere. */
  redirectTo: (url: string | undefined) => void;
  /** Responds with an error that repeats what it was sent. */
  repeatCredentials: (repeats: boolean) => void;
  /** Each response with objects sends this many bytes and then nothing; a second later it breaks off, or never. */
  stallAfter: (stall: Stall | undefined) => void;
  authorizedKey: (publicKey: string) => void;
  stop: () => void;
}

export async function startGitServers(): Promise<GitServers> {
  const root = mkdtempSync(join(tmpdir(), "git-"));
  const requests: GitServers["requests"] = [];
  let password: string | undefined;
  let elsewhere: string | undefined;
  let repeats = false;
  let stall: Stall | undefined;
  let authorized = "";

  const git = (name: string, ...words: string[]): string =>
    execFileSync("git", ["-C", join(root, name), ...words], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1", ...AUTHOR },
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();

  const makeTree = (name: string, lines: readonly string[]): string => {
    const input = lines.map((line) => `${line}\n`).join("");
    return execFileSync("git", ["-C", join(root, name), "mktree"], { encoding: "utf8", input }).trim();
  };

  const server = createServer((request, response) => {
    const { url = "", headers } = request;
    requests.push({ url, authorization: headers.authorization });
    if (elsewhere !== undefined) response.writeHead(302, { location: `${elsewhere}${url}` }).end();
    else if (password !== undefined && headers.authorization !== `Basic ${Buffer.from(password).toString("base64")}`)
      response.writeHead(401, { "www-authenticate": "Basic" }).end();
    else if (repeats) {
      const lines = ["# service=git-upload-pack\n", undefined, `ERR you sent ${headers.authorization ?? "nothing"}\n`];
      const packet = (line = ""): string => (line === "" ? "0000" : `${(line.length + 4).toString(16).padStart(4, "0")}${line}`);
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-advertisement" }).end(lines.map(packet).join(""));
    } else serveHttp(root, request, response, url.endsWith("/git-upload-pack") ? stall : undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const sshServer = new ssh2.Server({ hostKeys: [createKeyPair(new Uint8Array(32).fill(7), "host").private_key] }, (client) =>
    serveSsh(client, root, () => authorized),
  );
  sshServer.listen(0, "127.0.0.1");
  await once(sshServer, "listening");

  return {
    http: `http://127.0.0.1:${portOf(server)}`,
    ssh: `ssh://${SSH_USER}@127.0.0.1:${portOf(sshServer)}`,
    requests,
    git,
    commit: (name, files, { branch = "main", message = "A commit" } = {}) => {
      const place = join(root, name);
      if (!existsSync(place)) {
        mkdirSync(place, { recursive: true });
        git(name, "init", "--quiet", "--bare", "--initial-branch=main");
        git(name, "config", "http.receivepack", "false");
      }
      const index = join(root, "work", name);
      rmSync(index, { recursive: true, force: true });
      const entries = Object.entries(files).map(([path, content]) => {
        if (typeof content === "object" && "submodule" in content) return `160000 ${content.submodule}\t${path}`;
        const [mode, text] = typeof content === "string" ? ["100644", content] : ["120000", content.link];
        const file = join(index, "blob");
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
        return `${mode} ${git(name, "hash-object", "-w", file)}\t${path}`;
      });
      const environment = { PATH: process.env["PATH"], HOME: root, GIT_INDEX_FILE: join(index, "index"), ...AUTHOR };
      mkdirSync(index, { recursive: true });
      const run = (input: string, ...words: string[]): string =>
        execFileSync("git", ["-C", place, ...words], { encoding: "utf8", env: environment, input }).trim();
      run(`${entries.join("\n")}\n`, "update-index", "--index-info");
      const hash = run("", "commit-tree", "-m", message, run("", "write-tree"));
      git(name, "update-ref", `refs/heads/${branch}`, hash);
      return hash;
    },
    commitOf: (name, inmost, levels) => {
      const around = (tree: string, names: readonly string[]): string =>
        makeTree(
          name,
          names.map((each) => `040000 tree ${tree}\t${each}`),
        );
      const tree = levels.reduce(around, git(name, "rev-parse", `${inmost}^{tree}`));
      const commit = git(name, "commit-tree", "-m", "A commit", tree);
      git(name, "update-ref", "refs/heads/main", commit);
      return commit;
    },
    requirePassword: (pair) => void (password = pair),
    redirectTo: (url) => void (elsewhere = url),
    stallAfter: (wish) => void (stall = wish),
    repeatCredentials: (repeat) => void (repeats = repeat),
    authorizedKey: (key) => void (authorized = key),
    stop: () => {
      server.close();
      server.closeAllConnections();
      sshServer.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function portOf(server: { address: () => AddressInfo | string | null }): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server listens on no port");
  return address.port;
}

/** Calls git's program for a request, as a web server calls a CGI program. */
function serveHttp(root: string, request: IncomingMessage, response: ServerResponse, stall?: Stall): void {
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const backend = spawn(BACKEND, {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(path),
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REMOTE_ADDR: "127.0.0.1",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  request.pipe(backend.stdin);
  let head: Buffer | undefined = Buffer.alloc(0);
  let room = stall?.bytes ?? Infinity;
  const send = (chunk: Buffer): void => {
    if (room <= 0) return;
    response.write(chunk.subarray(0, room));
    room -= chunk.length;
    if (room <= 0 && stall?.breaks === true) setTimeout(() => response.destroy(), 1_000);
  };
  backend.stdout.on("data", (chunk: Buffer) => {
    if (head === undefined) {
      send(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    const lines = head.subarray(0, end).toString().split("\r\n");
    const fields = lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()] as const);
    const status = Number.parseInt(fields.find(([name]) => name === "Status")?.[1] ?? "200", 10);
    response.writeHead(status, Object.fromEntries(fields.filter(([name]) => name !== "Status")));
    send(head.subarray(end + 4));
    head = undefined;
  });
  backend.stdout.on("end", () => {
    if (room > 0) response.end();
  });
}

function serveSsh(client: ssh2.Connection, root: string, authorized: () => string): void {
  client.on("error", () => undefined);
  client.on("authentication", (context) => {
    const isRight =
      context.method === "publickey" && context.key.data.equals(Buffer.from(authorized().split(" ")[1] ?? "", "base64"));
    if (isRight) context.accept();
    else context.reject(["publickey"]);
  });
  client.on("session", (accept) => {
    const session = accept();
    const variables: Record<string, string> = {};
    session.on("env", (acceptEnv, _, { key, val }) => {
      variables[key] = val;
      acceptEnv?.();
    });
    session.on("exec", (acceptExec, _, { command }) => {
      const stream = acceptExec();
      const [, name = ""] = /^git-upload-pack '\/([a-z0-9-]+)'$/.exec(command) ?? [];
      const upload = spawn("git", ["upload-pack", join(root, name)], {
        env: { PATH: process.env["PATH"], HOME: root, ...variables },
        stdio: ["pipe", "pipe", "ignore"],
      });
      stream.pipe(upload.stdin);
      upload.stdout.pipe(stream, { end: false });
      upload.on("close", (code) => {
        stream.exit(code ?? 1);
        stream.end();
      });
    });
  });
}
