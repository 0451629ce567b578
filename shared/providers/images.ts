// The newest images of the ERP's versions. The registry is asked once an hour for each version, for all instances; whoever needs
// to know reads what was recorded.
import { ERP_VERSIONS } from "../domain/erp-versions.ts";
import { now } from "../data/change.ts";
import { configuration } from "../platform/configuration.ts";
import { ofEnvironment } from "../platform/env.ts";
import { log } from "../platform/log.ts";
import { type NewestImage, readNewestImages, recordNewestImage } from "../records/newest-images.ts";
import { lookUpImage } from "./registry.ts";
import { NEWEST_IMAGE } from "./sandbox/images.ts";

/** By version; a version that was never found has none. */
type NewestImages = ReadonlyMap<string, Pick<NewestImage, "ids" | "created_at">>;

/** A newer image may be known a little later: an instance is told of it in hours, not in minutes. */
const CACHE_SECONDS = 300;
let cached: { images: NewestImages; readAt: number } | undefined;

export const newestImages = (): Promise<NewestImages> =>
  ofEnvironment<Promise<NewestImages>>({
    test: () => Promise.resolve(SANDBOX),
    live: async () => {
      if (cached === undefined || Date.now() - cached.readAt >= CACHE_SECONDS * 1000)
        cached = { images: new Map((await readNewestImages()).map((image) => [image.version, image])), readAt: Date.now() };
      return cached.images;
    },
  });

const SANDBOX: NewestImages = new Map(
  ERP_VERSIONS.map(({ version }) => [version, { ids: [NEWEST_IMAGE.id], created_at: NEWEST_IMAGE.created_at }]),
);

/** Less than an hour, so that it is looked up each hour by a schedule that may be late. */
const LOOK_UP_MINUTES = 55;

/** A registry that does not respond keeps the images that are known; each run asks it again. */
export async function refreshImages(): Promise<void> {
  const { registry } = await configuration();
  const known = await readNewestImages();
  for (const { version } of ERP_VERSIONS) {
    const image = known.find((each) => each.version === version);
    if (image !== undefined && Date.now() - Date.parse(image.checked_at) < LOOK_UP_MINUTES * 60_000) continue;
    try {
      await recordNewestImage({ ...(await lookUpImage(version, registry, image)), checked_at: now() });
    } catch (error) {
      log.warn("the registry does not say which image of the ERP is the newest", { version, error });
    }
  }
}
