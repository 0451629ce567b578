// A Chromium from an npm package, with the libraries and fonts that it needs, so that every machine has the same one.
import { readFileSync, writeFileSync } from "node:fs";
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
    env: {
      HOME: folder,
      FONTCONFIG_FILE: join(folder, "fonts.conf"),
      LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
    },
  };
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
