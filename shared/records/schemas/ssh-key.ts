// An SSH key as it is stored.
import * as z from "zod";
import { SshKey } from "../../api/ssh-keys.ts";
import { stored } from "../../data/stored.ts";
import { text } from "./fields.ts";

export const SshKeyRecord = stored(SshKey).extend({ account_id: text });

export type SshKeyRecord = z.infer<typeof SshKeyRecord>;
