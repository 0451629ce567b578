// `npm run bench`: what starts and requests cost, as ratios within one run, because machines differ and are noisy. Writes docs/performance.md.
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { bundleIfChanged } from "../../infra/bundle.ts";
import { ROOT } from "../../infra/built.ts";
import { service } from "./service.ts";
import { starts } from "./starts.ts";

const PAGE = join(ROOT, "docs", "performance.md");
const BEGIN = "<!-- written by `npm run bench` -->";
const END = "<!-- end -->";

const memory = process.argv.includes("--memory");
const tables = [await starts(await bundleIfChanged()), await service({ memory })];
const [first] = cpus();
const date = new Date().toLocaleDateString("en-US", { dateStyle: "long" });
const where = `Measured on ${date} with Node ${process.version}, ${cpus().length} × ${first?.model ?? "unknown"}:`;
const text = [where, ...tables].join("\n\n");
console.log(`\n${text}`);
const page = readFileSync(PAGE, "utf8");
writeFileSync(PAGE, `${page.slice(0, page.indexOf(BEGIN) + BEGIN.length)}\n\n${text}\n\n${page.slice(page.indexOf(END))}`);
process.exit(0); // the channel to whoever started this would keep the process alive
