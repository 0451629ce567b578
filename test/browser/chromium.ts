// A Chromium from an npm package, with the libraries and fonts that it needs, so that every machine has the same one.
import { readFileSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import chromium, { inflate } from "@sparticuz/chromium";
import { type BrowserServer, chromium as playwright, type LaunchOptions } from "playwright-core";
import * as z from "zod";
import { builtOnce, ROOT } from "../../infra/built.ts";

const PACKAGE = join(ROOT, "node_modules", "@sparticuz", "chromium");

const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir></fontconfig>
`;

/** A Chromium that other processes connect to by its URL. */
export const serve = async (): Promise<BrowserServer> => playwright.launchServer({ ...(await options()), host: "127.0.0.1" });

async function options(): Promise<LaunchOptions> {
  const folder = await unpacked();
  return {
    executablePath: join(folder, "chromium"),
    // The package's own arguments would turn off the security that these tests check.
    // Without its graphics process a page costs a sixth less.
    args: ["--no-sandbox", "--font-render-hinting=none", "--disable-gpu"],
    // Playwright has Chromium's processes share their memory through files of the disk, for machines with little room in memory.
    ...(roomInMemory() >= SHARED_BYTES && { ignoreDefaultArgs: ["--disable-dev-shm-usage"] }),
    env: {
      HOME: folder,
      FONTCONFIG_FILE: join(folder, "fonts.conf"),
      LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
    },
  };
}

/** More than all pages of a run hold at the same time. */
const SHARED_BYTES = 1024 ** 3;

/** Returns how many bytes are free in what Linux keeps for memory that processes share. */
function roomInMemory(): number {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize;
  } catch {
    return 0; // there is none
  }
}

async function unpacked(): Promise<string> {
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")));
  return builtOnce(join(ROOT, ".local", "chromium"), version, async (draft) => {
    // The package unpacks into the folder for temporary files, and trusts what it finds there.
    const { TMPDIR } = process.env;
    process.env["TMPDIR"] = draft;
    try {
      await chromium.executablePath();
      await inflate(join(PACKAGE, "bin", "al2023.tar.br"));
    } finally {
      if (TMPDIR === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = TMPDIR;
    }
    writeFileSync(join(draft, "fonts.conf"), FONTS);
  });
}
