// What exists in the sandbox only: the data of its simulated ERPs.
import * as z from "zod";
import { endpoint } from "./endpoint.ts";
import { erpNotInstalled } from "./errors.ts";
import * as fields from "./fields.ts";

/** The data of a sandbox instance's simulated ERP: any JSON object, which shows that backup, restore and clone carry it. */
const SandboxData = z
  .record(fields.characters(0, 200), z.unknown())
  .meta({ id: "SandboxData", examples: [{ orders: 3, note: "hello" }] });

export const getData = () =>
  endpoint({
    method: "GET",
    path: "/sandbox/instances/:id/data",
    summary: "Show a sandbox instance's data",
    description: "Returns the data as last written, restored or cloned.",
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
    description: "Takes a JSON object of up to 4 KiB, which stands for what users entered in the ERP.",
    access: ["instances:write"],
    only: "test",
    errors: () => [erpNotInstalled("failed")],
    unversioned: [],
    body: SandboxData,
    data: SandboxData,
  });
