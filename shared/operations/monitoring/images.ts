// Whether there is a newer image of the ERP than an instance has: its server reports which one that is, and the service looks up
// the newest of each version (providers/images.ts). Nothing is read or written here as long as neither changes.
import { isDeepStrictEqual } from "node:util";
import { startChange, tryCommit } from "../../data/change.ts";
import { keys } from "../../data/keys.ts";
import { find, updateOne } from "../../data/table.ts";
import type { ImageFacts } from "../../records/code.ts";
import { hostReportRef } from "../../records/host-reports.ts";
import { instanceRef } from "../../records/instances.ts";
import type { HostReport } from "../../records/schemas/host-report.ts";
import type { InstanceRecord } from "../../records/schemas/instance.ts";
import type { ServerRecord } from "../../records/schemas/server.ts";

/** What machines may call the newest image, and when it was created. */
interface NewestImage {
  ids: readonly string[];
  created_at: string | null;
}
/** Maps versions to their newest images. */
type NewestImages = ReadonlyMap<string, NewestImage>;

interface Image {
  id: string;
  created_at: string | null;
}

/** Compares the images that a server reports with the newest ones, where either has changed since it was last done. */
export async function recordOutdatedImages(
  { account_id, id: serverId }: ServerRecord,
  { uses, judged_images: before }: HostReport,
  newest: NewestImages,
): Promise<void> {
  const latest = [...newest]
    .map(([version, { ids }]) => `${version} ${ids[0]}`)
    .toSorted()
    .join(", ");
  const judged: Record<string, string> = {};
  for (const [instanceId, { image }] of Object.entries(uses)) {
    if (image == null) continue;
    const isKnown = before.newest === latest && before.images[instanceId] === image.id;
    if (isKnown || (await recordOnServer(serverId, await find(instanceRef(account_id, instanceId)), image, newest)))
      judged[instanceId] = image.id;
  }
  const judged_images = { newest: latest, images: judged };
  if (isDeepStrictEqual(judged_images, before)) return;
  const { key } = hostReportRef(account_id, serverId);
  await updateOne(key, { set: { judged_images } }, { unchanged: { judged_images: before } });
}

/** A machine may report anything: the instance must be on this server. */
const recordOnServer = async (
  serverId: string,
  instance: InstanceRecord | undefined,
  image: Image,
  newest: NewestImages,
): Promise<boolean> => instance?.server_id !== serverId || recordImage(instance, image, newest);

/** Whether there certainly is a newer one: what was looked up an hour ago may be older than what has been pulled since. */
export function isOutdated({ id, created_at }: Image, newest: NewestImage | undefined): boolean {
  if (newest?.created_at == null || created_at === null) return false;
  return !newest.ids.includes(id) && created_at < newest.created_at;
}

/** Whether an image is older, as far as is known: one that is newer than what was looked up an hour ago is not. */
const isOlder = ({ id, created_at }: Image, newest: NewestImage): boolean =>
  !newest.ids.includes(id) && (created_at === null || newest.created_at === null || created_at < newest.created_at);

/** Records which image an instance has. False if that changed at the same time. */
export async function recordImage(instance: InstanceRecord, image: Image, newest: NewestImages): Promise<boolean> {
  const { account_id, id, erp_version, image_id, image_created_at, update_available: before } = instance;
  const newestImage = newest.get(erp_version);
  const after = newestImage === undefined ? null : isOlder(image, newestImage);
  if (after === before && image.id === image_id && image.created_at === image_created_at) return true;
  const change = startChange({ id: account_id });
  change.update(
    keys.record("instance", account_id, id),
    { set: { image_id: image.id, image_created_at: image.created_at, update_available: after } },
    { unchanged: { image_id, update_available: before } },
  );
  if (after !== before) {
    change.setFilterFields("instance", id, { update_available: before }, { update_available: after });
    // That an image is the newest is no news.
    if (Boolean(after) !== Boolean(before)) change.countShown("update_available", after === true ? 1 : -1);
  }
  return tryCommit(change);
}

/** What an instance's code shows of its image. */
export function showImage(instance: InstanceRecord, newest: NewestImages): ImageFacts {
  const { erp_version: version, image_id: id, image_created_at: created_at, update_available } = instance;
  return { version, id, created_at, newest_created_at: newest.get(version)?.created_at ?? null, update_available };
}
