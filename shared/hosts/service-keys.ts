// The service's own SSH keys on a machine, when one replaces another. Without the script: also on machines on which nothing else
// works.
import type { KeyPair } from "../platform/key-pair.ts";
import { TryAgain } from "../platform/task-errors.ts";
import type { HostedServer } from "./host.ts";
import { connected, type Shell } from "./ssh-connection.ts";

/** Tests use another folder. A draft is renamed, so that a connection that breaks leaves one file or the other. */
const FILE =
  'set -e; umask 077; file="${ERP_HOSTING_SYSTEM:-}/root/.ssh/authorized_keys"; mkdir -p "${file%/*}"; touch "$file"; rm -f "$file.service"';

/** The key itself, without its type and comment: letters, digits, `+`, `/` and `=`. */
const readBlob = ({ public_key }: KeyPair): string => public_key.split(" ")[1] ?? "";

/** Lets `key` in, too. Signs in by any of `keys`. */
export const addServiceKey = (server: HostedServer, key: KeyPair, keys: readonly KeyPair[]): Promise<void> =>
  connected(
    server,
    (shell) =>
      runOrThrow(
        shell,
        `${FILE}; grep -v "^ *#" "$file" | grep -qF "${readBlob(key)}" || { cat "$file"; echo; cat; } > "$file.service"; [ ! -e "$file.service" ] || mv "$file.service" "$file"`,
        `${key.public_key}\n`,
      ),
    { keys },
  );

/** Lets `old` in no longer. Signs in by `key`, and tries afterwards whether the machine still accepts the old one. */
export async function removeServiceKey(server: HostedServer, old: KeyPair, key: KeyPair): Promise<void> {
  await connected(
    server,
    (shell) =>
      runOrThrow(
        shell,
        `${FILE}; { grep -vF "${readBlob(old)}" "$file" || [ $? = 1 ]; } > "$file.service"; mv "$file.service" "$file"`,
      ),
    { keys: [key] },
  );
  if (await acceptsKey(server, old))
    throw new Error("The machine still lets the old key in: look for other places of keys in its sshd_config");
}

async function acceptsKey(server: HostedServer, key: KeyPair): Promise<boolean> {
  try {
    await connected(server, async () => undefined, { keys: [key] });
    return true;
  } catch (error) {
    if (error instanceof TryAgain) return false;
    throw error;
  }
}

async function runOrThrow(shell: Shell, command: string, input = ""): Promise<void> {
  const { code, stderr } = await shell(command, input);
  if (code !== 0) throw new Error(`Could not change the machine's keys: ${stderr.trim().slice(-300)}`);
}
