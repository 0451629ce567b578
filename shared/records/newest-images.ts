// The newest image of each of the ERP's versions, as the registry last had it: looked up once for all instances.
import * as z from "zod";
import { keys } from "../data/keys.ts";
import { parseEach } from "../data/parse-each.ts";
import { queryAll, updateOne } from "../data/table.ts";
import { noText, text } from "./schemas/fields.ts";

const NewestImage = z.object({
  version: text,
  /** Digest of what the registry lists under the version's name, which has an image per processor architecture. */
  digest: text,
  /** What machines may call it: the digest, and for each processor the image's own digest and that of its configuration. */
  ids: z.array(text),
  created_at: noText,
  checked_at: text,
});
export type NewestImage = z.infer<typeof NewestImage>;

/** Those that have been looked up. */
export const readNewestImages = async (): Promise<NewestImage[]> => parseEach(NewestImage, await queryAll(keys.newestImages()));

export const recordNewestImage = async (image: NewestImage): Promise<void> =>
  void (await updateOne(keys.newestImage(image.version), { set: image }, { exists: false }));
