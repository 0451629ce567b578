// The newest images of the ERP's versions. The registry is asked once an hour for each version, for all instances; whoever needs
// to know reads what was recorded.
import { COMING_ERP_VERSIONS, ERP_VERSIONS, type ErpVersion } from "../domain/erp-versions.ts";
import { now } from "../data/change.ts";
import { configuration } from "../platform/configuration.ts";
import { chooseByEnvironment } from "../platform/env.ts";
import { log } from "../platform/log.ts";
import { type NewestImage, readNewestImages, recordNewestImage } from "../records/newest-images.ts";
import { lookUpImage, NoSuchImage } from "./registry.ts";
import { NEWEST_IMAGE } from "./sandbox/images.ts";
import { MINUTE_MS } from "../domain/durations.ts";

/** Maps versions to their newest images; a version that was never found has none. */
type NewestImages = ReadonlyMap<string, Pick<NewestImage, "ids" | "created_at">>;

/** A newer image may be known a little later: an instance is told of it in hours, not in minutes. */
const CACHE_SECONDS = 300;
let cached: { images: NewestImages; readAt: number } | undefined;

export const newestImages = (): Promise<NewestImages> =>
  chooseByEnvironment<Promise<NewestImages>>({
    test: () => Promise.resolve(SANDBOX),
    live: async () => {
      if (cached === undefined || Date.now() - cached.readAt >= CACHE_SECONDS * 1000) {
        const images = (await readNewestImages()).filter(isThere);
        cached = { images: new Map(images.map((image) => [image.version, image])), readAt: Date.now() };
      }
      return cached.images;
    },
  });

const SANDBOX: NewestImages = new Map(
  ERP_VERSIONS.map(({ version }) => [version, { ids: [NEWEST_IMAGE.id], created_at: NEWEST_IMAGE.created_at }]),
);

/** What was found: an image, or that there is none yet. */
const isThere = ({ ids }: NewestImage): boolean => ids.length > 0;

/** The versions that can be installed, the newest first. */
export async function offeredVersions(): Promise<ErpVersion[]> {
  const images = await newestImages();
  const arrived = COMING_ERP_VERSIONS.filter((version) => images.has(version));
  return [...arrived.map((version) => ({ version, deprecated: false })), ...ERP_VERSIONS.map((version) => ({ ...version }))];
}

/** Less than an hour, so that it is looked up each hour by a schedule that may be late. */
const LOOK_UP_MINUTES = 55;

/** A registry that does not respond keeps the images that are known; each run asks it again. */
export async function refreshImages(): Promise<void> {
  const { registry } = await configuration();
  const newestImages = await readNewestImages();
  for (const version of [...COMING_ERP_VERSIONS, ...ERP_VERSIONS.map((each) => each.version)]) {
    const image = newestImages.find((each) => each.version === version);
    if (image !== undefined && Date.now() - Date.parse(image.checked_at) < LOOK_UP_MINUTES * MINUTE_MS) continue;
    try {
      await recordNewestImage({ ...(await lookUpImage(version, registry, image)), checked_at: now() });
    } catch (error) {
      if (error instanceof NoSuchImage && COMING_ERP_VERSIONS.includes(version) && (image === undefined || !isThere(image)))
        await recordNewestImage({ version, digest: "", ids: [], created_at: null, checked_at: now() });
      else log.warn("the registry does not say which image of the ERP is the newest", { version, error });
    }
  }
}
