// PUT /sandbox/dns/:name
import { notFound } from "../../shared/api/errors.ts";
import * as fields from "../../shared/api/fields.ts";
import * as sandbox from "../../shared/api/sandbox.ts";
import { setSandboxTxt } from "../../shared/operations/sign-in/txt-records.ts";
import { handle } from "../../shared/runtime/handle.ts";

export const handler = handle(sandbox.putDns)(async ({ params, body, caller }) => {
  const name = fields.domainInput.safeParse(params.name).data;
  if (name === undefined) throw notFound("domain");
  await setSandboxTxt(caller.account_id, name, body.txt);
  return { name, txt: body.txt };
});
