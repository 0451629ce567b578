// A connection to a machine, verified by its pinned host keys.
import { createHash } from "node:crypto";
import { connect } from "node:net";
import type { Client, ConnectConfig, PublicKeyAuthMethod, ServerHostKeyAlgorithm } from "ssh2";
import { GiveUp, TryAgain } from "../platform/task-errors.ts";
import type { HostedServer } from "./host.ts";
import type { KeyPair } from "../platform/key-pair.ts";
import { serviceKeys } from "../platform/service-key.ts";
import { because } from "../domain/reasons.ts";

/** How a command ended. */
export interface CommandResult {
  code: number;
  output: string;
  stderr: string;
}

/** Runs a command as root. Whatever must not appear in the machine's list of processes belongs into `input`. */
export type Shell = (command: string, input?: string, limit?: { seconds: number }) => Promise<CommandResult>;

const USER = "root";
const DEFAULT_PORT = 22;
/** The time limit from the first packet to being signed in: a busy machine's sshd may take its time. */
const CONNECT_SECONDS = 15;
const COMMAND_SECONDS = 60;
/** A connection that died is noticed after three of these. */
const KEEPALIVE_SECONDS = 5;
/** The longest output is the checksums of an archive's 9,000 parts, some 0.6 MB. */
const OUTPUT_CHARACTERS_MAX = 4_000_000;

interface Connecting {
  seconds?: number;
  /** Those to sign in with, in this order; without them the service's. */
  keys?: readonly KeyPair[];
}

/** Connects, works, and closes the connection whatever happens. Throws TryAgain if the machine cannot be reached. */
export async function connected<T>(
  server: HostedServer,
  work: (shell: Shell) => Promise<T>,
  { seconds = CONNECT_SECONDS, keys }: Connecting = {},
): Promise<T> {
  const hostKeys: Buffer[] = [];
  const config = { ...buildConfig(server, hostKeys, keys ?? (await serviceKeys())), readyTimeout: seconds * 1000 };
  // Loaded on demand: it is a third of what a task would load at its start, and most tasks connect to nothing.
  const ssh2 = await import("ssh2");
  const client = new ssh2.Client();
  const { promise: lost, reject: lose } = Promise.withResolvers<never>();
  lost.catch(() => undefined); // it may be lost after the command has run
  const ready = new Promise<void>((resolve) => void client.once("ready", resolve));
  client.on("error", (error) => lose(unreachable(server, hostKeys, error)));
  client.on("close", () => lose(unreachable(server, hostKeys)));
  try {
    client.connect(config);
    client.setNoDelay(true); // small packets that each wait for a response: collecting them would cost up to 40 ms a packet
    await Promise.race([ready, lost]);
    return await Promise.race([work(createShell(client, server)), lost]);
  } finally {
    client.destroy();
  }
}

const BANNER = "SSH-2.0-";

/** Whether an SSH server listens: it sends its version before anything is asked. */
export async function sendsSshBanner(host: string, port: number | null, { seconds }: { seconds: number }): Promise<boolean> {
  const socket = connect({ host, port: port ?? DEFAULT_PORT });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), seconds * 1000);
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    received += text;
    if (received.length >= BANNER.length) resolve(received.startsWith(BANNER));
  });
  socket.on("error", () => resolve(false)).on("close", () => resolve(false));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}

function buildConfig(
  { ip_address, ssh_port, host_keys }: HostedServer,
  hostKeys: Buffer[],
  keys: readonly KeyPair[],
): ConnectConfig {
  if (ip_address === null || host_keys.length === 0) throw new GiveUp("HOST_UNREACHABLE", because("host_key_missing"));
  const pinned = host_keys.map(readBlob);
  return {
    host: ip_address,
    port: ssh_port ?? DEFAULT_PORT,
    username: USER,
    authHandler: keys.map(({ private_key }): PublicKeyAuthMethod => ({ type: "publickey", username: USER, key: private_key })),
    hostVerifier: (key: Buffer) => {
      hostKeys.push(key);
      return pinned.some((pinnedKey) => pinnedKey.equals(key));
    },
    // A machine has several keys and shows one of a requested type: request only the pinned key's types.
    algorithms: { serverHostKey: host_keys.flatMap(chooseAlgorithms) },
    keepaliveInterval: KEEPALIVE_SECONDS * 1000,
    keepaliveCountMax: 3,
  };
}

/** The key itself, from a line `TYPE BASE64 COMMENT`. */
const readBlob = (line: string): Buffer => Buffer.from(line.split(" ")[1] ?? "", "base64");

const ALGORITHMS: Readonly<Record<string, readonly ServerHostKeyAlgorithm[]>> = {
  "ssh-ed25519": ["ssh-ed25519"],
  "ecdsa-sha2-nistp256": ["ecdsa-sha2-nistp256"],
  "ecdsa-sha2-nistp384": ["ecdsa-sha2-nistp384"],
  "ecdsa-sha2-nistp521": ["ecdsa-sha2-nistp521"],
  "ssh-rsa": ["rsa-sha2-512", "rsa-sha2-256"],
};

function chooseAlgorithms(line: string): readonly ServerHostKeyAlgorithm[] {
  const [type = ""] = line.split(" ");
  const algorithm = ALGORITHMS[type];
  if (algorithm === undefined) throw new GiveUp("HOST_UNREACHABLE", because("host_key_unsupported", { type }));
  return algorithm;
}

/**
 * Returns the error for a machine that does not respond, also for one that shows another host key: nothing was sent to it, and it
 * may be one that is just being set up. A machine that keeps presenting another key goes offline like one that does not respond.
 */
function unreachable({ ip_address, host_keys }: HostedServer, [key]: Buffer[], cause?: Error): TryAgain {
  const strange = key !== undefined && !host_keys.some((line) => readBlob(line).equals(key));
  const reason = strange
    ? because("host_key_unknown", { ip_address: String(ip_address), fingerprint: fingerprint(key) })
    : because("machine_silent", { ip_address: String(ip_address) });
  return new TryAgain("HOST_UNREACHABLE", reason, { cause });
}

export const fingerprint = (key: Buffer): string => createHash("sha256").update(key).digest("base64").replace(/=+$/, "");

type BrokenOff = "machine_slow" | "machine_rejected_command" | "machine_sent_too_much" | "machine_closed_connection";

function createShell(client: Client, { ip_address }: HostedServer): Shell {
  return async (command, input = "", { seconds } = { seconds: COMMAND_SECONDS }) => {
    const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
    const brokenOff = (code: BrokenOff, cause?: Error): void =>
      reject(new TryAgain("HOST_UNREACHABLE", because(code, { ip_address: String(ip_address) }), { cause }));
    const timer = setTimeout(() => brokenOff("machine_slow"), seconds * 1000);
    client.exec(command, (error, channel) => {
      if (error) return brokenOff("machine_rejected_command", error);
      const texts = { output: "", stderr: "" };
      const collect = (name: keyof typeof texts) => (text: string) => {
        texts[name] += text;
        if (texts[name].length > OUTPUT_CHARACTERS_MAX) brokenOff("machine_sent_too_much");
      };
      channel.setEncoding("utf8").on("data", collect("output"));
      channel.stderr.setEncoding("utf8").on("data", collect("stderr"));
      // A command that ends without reading its input: only its exit code counts.
      channel.on("error", () => undefined);
      // Without a code something killed it: the connection broke, or the machine goes down.
      channel.on("close", (code: number | null | undefined) =>
        typeof code === "number" ? resolve({ code, ...texts }) : brokenOff("machine_closed_connection"),
      );
      channel.end(input);
    });
    return promise.finally(() => clearTimeout(timer));
  };
}
