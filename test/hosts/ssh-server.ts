// An SSH server from npm with a real bash behind it: the part of sshd that a test's machine needs, on any system.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { type AuthContext, type Connection, Server, type ServerChannel, utils } from "ssh2";
import * as z from "zod";

export interface SshServer {
  port: number;
  /** One line for each offered key and its outcome, as in sshd's log. */
  log: () => string;
  stop: () => Promise<void>;
}

/**
 * Starts a server like sshd with keys only: the owner of one of the `authorized` keys runs commands in bash, with this
 * environment.
 */
export async function startSshServer(options: {
  hostKey: string;
  /** Asked at each sign-in. */
  authorized: () => readonly string[];
  environment: Readonly<Record<string, string>>;
}): Promise<SshServer> {
  const log: string[] = [];
  const connections = new Set<Connection>();
  const ssh = new Server({ hostKeys: [options.hostKey] }, (connection) => {
    connections.add(connection);
    connection.on("close", () => connections.delete(connection));
    connection.on("error", () => undefined); // the test cut the connection
    connection.on("authentication", (context) => {
      const verdict = authenticate(context, options.authorized());
      if (context.method === "publickey") log.push(`${verdict} publickey for ${context.username}`);
      if (verdict === "Failed") context.reject(["publickey"]);
      else context.accept();
    });
    connection.on("session", (accept) => {
      accept().on("exec", (start, _reject, { command }) => run(start(), command, options.environment));
    });
  });
  const server = createServer({ noDelay: true }, (socket) => ssh.injectSocket(socket)); // as sshd
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    port,
    log: () => log.join("\n"),
    stop: async () => {
      for (const connection of connections) connection.end();
      server.close();
      await once(server, "close");
    },
  };
}

/** A client first offers a key without a signature, to ask whether the server would accept it. */
function authenticate(context: AuthContext, authorized: readonly string[]): "Accepted" | "Postponed" | "Failed" {
  if (context.method !== "publickey") return "Failed";
  const keys = authorized.flatMap((line) => {
    const key = utils.parseKey(line);
    return key instanceof Error || !key.getPublicSSH().equals(context.key.data) ? [] : [key];
  });
  const [key] = keys;
  if (key === undefined) return "Failed";
  if (context.signature === undefined || context.blob === undefined) return "Postponed";
  return key.verify(context.blob, context.signature, context.hashAlgo) ? "Accepted" : "Failed";
}

/** A command continues when its connection breaks: nobody reads its output any more. */
function run(channel: ServerChannel, command: string, environment: Readonly<Record<string, string>>): void {
  const user = { HOME: homedir(), USER: "root", LOGNAME: "root", SHELL: "/bin/bash" };
  // Bash runs without this user's own .bashrc, which it reads for a command over a network and which may take a second.
  const bash = spawn("/bin/bash", ["--norc", "-c", command], {
    cwd: homedir(),
    env: { ...user, ...environment },
    detached: true,
  });
  channel.pipe(bash.stdin);
  bash.stdin.on("error", () => undefined); // the command ended without reading its input
  bash.stdout.pipe(channel, { end: false });
  bash.stderr.pipe(channel.stderr, { end: false });
  channel.on("close", () => {
    for (const stream of [bash.stdin, bash.stdout, bash.stderr]) stream.destroy();
  });
  channel.on("error", () => undefined);
  // The channel ends when the output is closed, not when the command has exited, as in sshd.
  bash.on("close", (code, killedBy) => {
    if (code === null) channel.exit(killedBy ?? "KILL");
    else channel.exit(code);
    channel.end();
  });
}
