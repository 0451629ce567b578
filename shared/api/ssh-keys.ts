// SSH keys: public keys that are installed on the servers created with them.
import * as z from "zod";
import { DEFAULT_QUOTAS } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import * as fields from "./fields.ts";
import { overQuota } from "./errors.ts";

const EXAMPLE_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8v1FfLxY0l3u6cQbV2iXW0Lq4bqXb3oS0tYQf2gk3E ops@example.com";

export const SshKey = z
  .object({
    id: fields.id("ssh_key"),
    name: fields.text(64, "Ops laptop"),
    public_key: z.string().meta({ examples: [EXAMPLE_KEY] }),
    fingerprint: z.string().meta({ examples: ["SHA256:uNiVztksCsDhcc0u9e8BrWXKvcULhuRDAW4FK7yBVRQ"] }),
    created_at: fields.timestamp,
  })
  .meta({ id: "SshKey" });
export type SshKey = z.infer<typeof SshKey>;

export const list = () =>
  endpoint({
    path: "/ssh-keys",
    summary: "List SSH keys",
    description: "Returns the account's SSH keys, newest first.",
    access: ["servers:read"],
    ...fields.resourceListOf("ssh_key", SshKey, {}),
  });

export const create = () =>
  endpoint({
    method: "POST",
    path: "/ssh-keys",
    summary: "Add an SSH key",
    description:
      "`public_key` is one line in OpenSSH format without options: Ed25519, ECDSA, either of them on a security key (`sk-ssh-ed25519@openssh.com`, `sk-ecdsa-sha2-nistp256@openssh.com`), or RSA of at least 2048 bits.",
    access: ["servers:write"],
    status: 201,
    errors: () => [overQuota("ssh_key", DEFAULT_QUOTAS.ssh_key)],
    body: z.strictObject({
      name: fields.text(64, "Ops laptop"),
      public_key: z
        .string()
        .max(4096, "must have at most 4096 characters")
        .meta({ examples: [EXAMPLE_KEY] }),
    }),
    data: SshKey,
  });

export const get = () =>
  endpoint({
    method: "GET",
    path: "/ssh-keys/:id",
    summary: "Show an SSH key",
    description: "Returns the public key as you added it, and its fingerprint.",
    access: ["servers:read"],
    unversioned: [],
    data: SshKey,
  });

const deleteOne = () =>
  endpoint({
    method: "DELETE",
    path: "/ssh-keys/:id",
    summary: "Delete an SSH key",
    description: "You cannot choose it for new servers any more. Servers that were created with it keep it.",
    access: ["servers:write"],
    data: fields.deleted("ssh_key"),
  });
export { deleteOne as delete };
