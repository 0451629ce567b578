// The operator's brand: a JSON file with the name, logo, color and support link that the dashboard shows instead of its own.
import { readFileSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import * as z from "zod";
import type { Brand } from "./dashboard-headers.ts";

/** The logo is part of a file that every visit loads. */
const LOGO_KILOBYTES_MAX = 32;

const File = z.strictObject({
  name: z.string().trim().min(1).max(40),
  /** A path, relative to the file. */
  logo: z.string().optional(),
  color: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, "must be a color such as #0b5cad")
    .optional(),
  support_url: z
    .string()
    .refine((url) => ["https:", "http:", "mailto:"].includes(URL.parse(url)?.protocol ?? ""), "must be an https or a mailto URL")
    .optional(),
});

/** An error that the operator can fix. */
export class BrandError extends Error {}

export function readBrand(path: string): Brand {
  const file = File.safeParse(readContent(path));
  if (!file.success)
    throw new BrandError(`${path}: ${file.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`).join("; ")}`);
  const { name, logo, color, support_url } = file.data;
  return {
    name,
    logo: logo === undefined ? null : logoOf(resolve(dirname(path), logo)),
    color: color ?? null,
    support_url: support_url ?? null,
  };
}

function readContent(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new BrandError(`${path} cannot be read as JSON: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

const PNG = Buffer.from("\x89PNG\r\n\x1A\n", "latin1");

/**
 * Returns the logo as a data URL, which pages only show as an image: scripts in an SVG do not run there, and nothing that it
 * refers to is loaded.
 */
function logoOf(path: string): string {
  const bytes = readLogo(path);
  if (bytes.length > LOGO_KILOBYTES_MAX * 1024) throw new BrandError(`${path} is larger than ${LOGO_KILOBYTES_MAX} KB.`);
  const type = extname(path).toLowerCase();
  const isPng = type === ".png" && bytes.subarray(0, PNG.length).equals(PNG);
  const isSvg = type === ".svg" && bytes.toString("utf8").includes("<svg");
  if (!isPng && !isSvg) throw new BrandError(`${path} is neither a PNG nor an SVG image.`);
  return `data:image/${isPng ? "png" : "svg+xml"};base64,${bytes.toString("base64")}`;
}

function readLogo(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new BrandError(`The logo ${path} cannot be read.`, { cause });
  }
}
