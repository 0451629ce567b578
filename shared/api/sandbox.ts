// What exists in the sandbox only: the data of its simulated ERPs.
import * as z from "zod";
import { isRef, MODULE_NAME, REF } from "../domain/code-rules.ts";
import { endpoint } from "./endpoint.ts";
import { erpNotInstalled } from "./errors.ts";
import * as fields from "./fields.ts";

/**
 * The data of a sandbox instance's simulated ERP: any JSON object, which shows that backup, restore, clone and deploy carry it,
 * or put it back.
 */
const SandboxData = z
  .record(fields.characters(0, 200), z.unknown())
  .meta({ id: "SandboxData", examples: [{ orders: 3, note: "hello" }] });

export const getData = () =>
  endpoint({
    method: "GET",
    path: "/sandbox/instances/:id/data",
    summary: "Show a sandbox instance's data",
    description:
      "Returns the data as last written, restored or cloned. With modules that the ERP's image does not have, `modules` shows their versions.",
    access: ["instances:read"],
    only: "test",
    errors: () => [erpNotInstalled("failed")],
    unversioned: [],
    data: SandboxData,
  });

export const putData = () =>
  endpoint({
    method: "PUT",
    path: "/sandbox/instances/:id/data",
    summary: "Replace a sandbox instance's data",
    description:
      "Takes a JSON object of up to 4 KiB, which stands for what users entered in the ERP. `modules` stays as it is: only a deploy changes it.",
    access: ["instances:write"],
    only: "test",
    errors: () => [erpNotInstalled("failed")],
    unversioned: [],
    body: SandboxData,
    data: SandboxData,
  });

const versions = z.record(
  z.string().regex(MODULE_NAME, "must be the name of a module").meta({ maxLength: 64 }),
  z
    .string()
    .regex(/^[0-9A-Za-z.]{1,20}$/, "must be a version such as 1.0")
    .meta({ examples: ["1.1"], maxLength: 20 }),
);

export const putRepository = () =>
  endpoint({
    method: "PUT",
    path: "/sandbox/repositories/:name",
    summary: "Make a commit in a sandbox repository",
    description:
      "`https://git.example/NAME` has these modules at the ref from now on; each PUT is a new commit. A repository for which there was none has the module `acme` of version 1.0 at any ref. " +
      "The refs `broken-manifest`, `fail-build`, `fail-rehearsal`, `fail-update` and `moved` make a deploy fail, and `slow` takes 20 s longer.",
    access: ["instances:write"],
    only: "test",
    body: z.strictObject({
      ref: z
        .string()
        .refine(isRef, "must be a branch, a tag or a commit of 40 hexadecimal digits")
        .meta({ examples: ["main"], pattern: REF.source, maxLength: 200 }),
      modules: versions
        .refine((all) => Object.keys(all).length <= 100, "must have at most 100 entries")
        .meta({ description: "The version of each module", examples: [{ acme: "1.1" }] }),
    }),
    data: SandboxRepository,
  });

const SandboxDns = z
  .object({
    name: z.string().meta({ examples: ["example.com"] }),
    txt: z.array(z.string()).meta({ examples: [["erp-sso=acc_01kag8w1s2e7tv8q4m5n6p7r8s.9jUyPxCDPkjOCU4s"]] }),
  })
  .meta({ id: "SandboxDns" });

export const putDns = () =>
  endpoint({
    method: "PUT",
    path: "/sandbox/dns/:name",
    summary: "Set a domain's TXT records in the sandbox",
    description:
      "In the test environment, these are the TXT records that your account finds at the domain, in place of those in the DNS.",
    access: ["settings:write"],
    only: "test",
    body: z.strictObject({
      txt: z
        .array(fields.characters(1, 255))
        .max(TXT_MAX, `must contain at most ${TXT_MAX}`)
        .meta({ examples: [["erp-sso=acc_01kag8w1s2e7tv8q4m5n6p7r8s.9jUyPxCDPkjOCU4s"]], maxItems: TXT_MAX }),
    }),
    data: SandboxDns,
  });

const TXT_MAX = 20;

const SandboxRepository = z
  .object({
    url: z.string().meta({ examples: ["https://git.example/acme"] }),
    ref: z.string().meta({ examples: ["main"] }),
    commit: z.string().meta({ examples: ["8f3c1d5e7a90b24c6d8e0f1a2b3c4d5e6f708192"] }),
    modules: z.record(z.string(), z.string()).meta({ examples: [{ acme: "1.1" }] }),
  })
  .meta({ id: "SandboxRepository" });
