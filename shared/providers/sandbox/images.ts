// Images of simulated ERPs.
import { createHash } from "node:crypto";

const imageId = (of: string): string => `sha256:${createHash("sha256").update(of).digest("hex")}`;

/** What ERPs whose domain begins with `old-image.` are installed with; all others have the newest one. */
export const FIRST_IMAGE = { id: imageId("first"), created_at: "2026-09-01T03:00:00.000Z" };
export const NEWEST_IMAGE = { id: imageId("newest"), created_at: "2026-11-20T03:00:00.000Z" };

export const imageFor = (domain: string): string => (domain.startsWith("old-image.") ? FIRST_IMAGE : NEWEST_IMAGE).id;

/** An image as a machine describes it. */
export const describeImage = (id: string) => (id === NEWEST_IMAGE.id ? NEWEST_IMAGE : { ...FIRST_IMAGE, id });
