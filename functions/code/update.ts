// PUT /instances/:id/code
import { isDeepStrictEqual } from "node:util";
import * as code from "../../shared/api/code.ts";
import type { FieldChange } from "../../shared/api/events.ts";
import { retryOnConflict } from "../../shared/data/change.ts";
import { showImage } from "../../shared/operations/monitoring/images.ts";
import { requireReachable, requireRoomForRepositories } from "../../shared/operations/code/repositories.ts";
import { newestImages } from "../../shared/providers/images.ts";
import { changesBetween } from "../../shared/records/audit-changes.ts";
import { codeRef, codeVersion, emptyCode, setCode, toCode } from "../../shared/records/code.ts";
import { logEvent } from "../../shared/records/events.ts";
import { instanceRef, requireInstance } from "../../shared/records/instances.ts";
import type { CodeRecord } from "../../shared/records/schemas/code.ts";
import { beginChange } from "../../shared/runtime/begin.ts";
import { handle } from "../../shared/runtime/handle.ts";

/** What is compared: of the image what a request sets; of variables also the secrets, since the event shows no values. */
const settings = (code: CodeRecord) => ({ ...toCode(code), image: code.image, environment: code.environment });

/** Those of the fields that differ. That only a token was replaced shows in the stored repositories alone. */
function changesOf(before: CodeRecord, after: CodeRecord, fields: readonly string[]): FieldChange[] {
  const changes = changesBetween(settings(before), settings(after), fields);
  const credentials = ({ repositories }: CodeRecord) => repositories.map(({ credential }) => credential);
  const isNamed = changes.some(({ field }) => field === "repositories");
  return isNamed || isDeepStrictEqual(credentials(before), credentials(after))
    ? changes
    : [{ field: "repositories" }, ...changes];
}

export const handler = handle(code.update)(async ({ params, body, caller, by, read, commit, match, matchTag }) =>
  retryOnConflict(async () => {
    const { account_id } = caller;
    const { change, account, ...records } = await beginChange(
      { caller, read },
      { instance: instanceRef(account_id, params.id), code: codeRef(account_id, params.id) },
    );
    const instance = requireInstance(records.instance);
    const before = records.code ?? emptyCode(instance);
    if (records.code === undefined) matchTag(codeVersion(before).etag);
    else match(change, codeVersion(records.code));
    requireReachable(body.repositories ?? []);
    requireRoomForRepositories(account, before, body.repositories ?? []);
    const set = await setCode(change, instance, records.code, body);
    logEvent(
      change,
      by,
      { type: "code.update", changes: changesOf(before, set, Object.keys(body)) },
      { type: "instance", id: instance.id, name: instance.name },
    );
    return commit(change, toCode(set, showImage(instance, await newestImages())));
  }),
);
