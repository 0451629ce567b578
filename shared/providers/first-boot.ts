// A new machine's user data for its first boot, and the host key that verifies the first connection.
import { createHash } from "node:crypto";
import { oneTimeHostKeys, serviceKey } from "../platform/service-key.ts";

/** Providers take 16 to 64 KB. */
const USER_DATA_BYTES_MAX = 16_384;
const SSH_PORT = 22;

/** The file that tells the first job that the host key was known outside the machine, and is to be changed for another. */
const ONE_TIME_MARKER = "/etc/erp-hosting/one-time-host-key";

/** Systems that the script is for, best first. */
export const SYSTEMS = [
  { distribution: "debian", version: "12" },
  { distribution: "debian", version: "13" },
  { distribution: "ubuntu", version: "24.04" },
  { distribution: "ubuntu", version: "22.04" },
] as const;

/** How a machine that was requested with `userData` is met, by this try of the operation or an earlier one. */
export async function initialSshTrust(operationId: string): Promise<{ ssh_port: number; host_keys: string[] }> {
  const keys = await oneTimeHostKeys(operationId);
  return { ssh_port: SSH_PORT, host_keys: keys.map(({ public_key }) => public_key) };
}

/** Cloud-config (JSON is YAML). The one secret in it, the one-time host key, is worth nothing after the machine's first job. */
export async function userData({ operation_id, name }: { operation_id: string; name: string }): Promise<string> {
  const [service, [host]] = await Promise.all([serviceKey(), oneTimeHostKeys(operation_id)]);
  const config = {
    hostname: name,
    disable_root: false,
    ssh_pwauth: false,
    ssh_authorized_keys: [service.public_key],
    ssh_deletekeys: true,
    ssh_keys: { ed25519_private: host.private_key, ed25519_public: host.public_key },
    write_files: [
      { path: ONE_TIME_MARKER, permissions: "0600", content: "This machine's host key was generated outside of it\n" },
    ],
  };
  const text = `#cloud-config\n${JSON.stringify(config)}\n`;
  if (Buffer.byteLength(text) > USER_DATA_BYTES_MAX) throw new Error("The user data is larger than providers accept");
  return text;
}

/** Computes the fingerprint by which providers look for a key: MD5, in pairs of hexadecimal digits. */
export function computeFingerprint(publicKey: string): string {
  const digest = createHash("md5")
    .update(Buffer.from(publicKey.split(" ")[1] ?? "", "base64"))
    .digest("hex");
  return (digest.match(/../g) ?? []).join(":");
}
