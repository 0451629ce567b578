// Secrets in logs, in every form and place: the machine's script removes them, and the service once more, if a machine has not.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect } from "vitest";
import { parseLog, readableWork } from "../../shared/domain/log-lines.ts";
import { hostScript } from "../../shared/hosts/host-script.ts";
import { failJob } from "../hosts/failed-jobs.ts";
import { SECRETS } from "../hosts/log-secrets.ts";
import { noMachine } from "../hosts/machine.ts";
import { prove } from "./prove.ts";
import type { Random } from "./random.ts";

/** `error` is what is said of a job that failed. */
const SOURCES = ["erp", "database", "work", "error"] as const;
type Source = (typeof SOURCES)[number] | "proxy";

const URL_FORM = ["a signed URL", "GET https://store.example/a.zip?X-Amz-Signature=SECRET&x=SECRET done"] as const;
const FORMS = new Map<string, string>(SECRETS);
const OWN = "the ERP's own password";
const OF_CODE = "a secret of its code";

/** What tenants and visitors write around it. */
const NOISE = ["<script>", "it's", "\u001b[31m", "é", "\u202e", "a=b", "100%", "\\", "/x/y", "$(id)", "ok", "🙂", "--", "{}"];

const PER_TRIAL = 20;
const LINE_BYTES = 8192;
/** An error shows only its last 40 lines and 8 KB: with lines this long, the first messages are sometimes cut off. */
const ERROR_LINE_CHARACTERS = 1000;

function secretOf({ below }: Random): string {
  const characters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789_-";
  return Array.from({ length: 16 + below(30) }, () => characters.charAt(below(characters.length))).join("");
}

function noise({ below, oneOf }: Random): string {
  return Array.from({ length: below(4) }, () => oneOf(NOISE)).join(" ");
}

/** Half of the messages end near the place where a line, or the text of an error, is cut. */
function place(source: Source, form: string, random: Random): string {
  const length = source === "error" ? random.below(ERROR_LINE_CHARACTERS) : LINE_BYTES - 400 + random.below(400);
  const before = random.chance(0.5) ? "ab ".repeat(3_000).slice(0, length) : noise(random);
  return `${before} ${form} ${noise(random)}`;
}

prove("logs", () => {
  const points = [
    ...SOURCES.flatMap((source) => [...FORMS.keys(), OWN, OF_CODE].map((form) => `${source}: ${form}`)),
    `work: ${URL_FORM[0]}`,
    `error: ${URL_FORM[0]}`,
    "proxy: a segment of a path",
    "proxy: a query",
  ];
  if (noMachine !== undefined) return Promise.resolve({ points, trial: async ({ counts }) => counts(0) });
  const folder = mkdtempSync(join(tmpdir(), "logs-"));
  const put = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  put("script.sh", hostScript());
  put("commands/docker", `#!/bin/bash\ncase "$*" in "logs "*) cat ${folder}/log ;; esac\n`);
  chmodSync(join(folder, "commands/docker"), 0o755);
  put("root/instances/ins_1/database", "shop");
  put("root/disk/docker_root", `${folder}/docker\n`);
  const password = "pass-$^w[o]r.d\\/&*";
  put("root/instances/ins_1/odoo.conf", `db_password = ${password}\n`);
  const ofCode = 'variable "of" ^the$ [code]\\';
  put("root/instances/ins_1/codes/op_0/variables", JSON.stringify([{ name: "KEY", value: ofCode, secret: true }]));
  const secretsByMark = new Map([
    [OWN, password],
    [OF_CODE, ofCode],
  ]);

  function readOnMachine(source: Source): string {
    const words = { work: ["work_log", "op_1"], error: ["end", "op_1-x"] };
    const env = { PATH: `${folder}/commands:${process.env["PATH"]}`, ERP_HOSTING_ROOT: join(folder, "root") };
    const command = source === "work" || source === "error" ? words[source] : ["logs", "ins_1", source, "-", "-"];
    const output = execFileSync("bash", [join(folder, "script.sh"), ...command], { env, encoding: "utf8" });
    if (source === "error") return Buffer.from(/^log=(.*)$/m.exec(output)?.[1] ?? "", "base64").toString("utf8");
    return gunzipSync(Buffer.from(/^lines=(.*)$/m.exec(output)?.[1] ?? "", "base64")).toString("utf8");
  }
  async function parsed(source: Source, text: string, secrets: readonly string[]): Promise<string> {
    if (source === "work") return readableWork({ text, lines: PER_TRIAL }, secrets);
    if (source === "error") return Object.values(await failJob(text, secrets)).join("\n");
    const lines = parseLog(source, text, secrets);
    return lines.map(({ message }) => message).join("\n");
  }

  const AT = "2026-11-26T19:00:00.123456789Z";
  /** Writes messages as the log has them on the machine, and returns them as a machine would send them that removes nothing. */
  function write(source: Source, messages: readonly string[]): string {
    if (source === "proxy") {
      const lines = messages.map((uri) =>
        JSON.stringify({
          level: "info",
          ts: 1_790_000_000,
          request: { client_ip: "::1", method: "GET", uri },
          duration: 1,
          size: 1,
          status: 200,
        }),
      );
      put("docker/volumes/erp-caddy_data/_data/log/ins_1.log", `${lines.join("\n")}\n`);
      return messages.map((uri) => `2026-11-26T19:00:00.000Z GET ${uri.split("?")[0]} 200 1 1 ::1\n`).join("");
    }
    const head = {
      erp: "2026-11-26 19:00:00,123 7 INFO shop odoo.http:",
      database: "2026-11-26 19:00:00.123 UTC [42] LOG: ",
      work: "",
      error: "",
    }[source];
    const ofJob = source === "work" || source === "error";
    const text = messages.map((message) => (ofJob ? `${message}\n` : `${AT} ${head} ${message}\n`)).join("");
    if (!ofJob) put("log", text);
    else {
      rmSync(join(folder, "root/jobs"), { recursive: true, force: true });
      put("root/jobs/op_1-x/kind", "x\n");
      put("root/jobs/op_1-x/deadline", "9999999999");
      put(`root/jobs/op_1-x/${source === "work" ? "instance" : "looks_at"}`, source === "work" ? "ins_1\n" : "erp-ins_1\n");
      put("root/jobs/op_1-x/log", text);
    }
    return text;
  }

  return Promise.resolve({
    points,
    close: () => rmSync(folder, { recursive: true }),
    trial: async ({ point, random, counts }) => {
      const [, source = "", form = ""] = /^(\w+): (.*)$/.exec(point) ?? [];
      const kind = source === "proxy" ? "proxy" : (SOURCES.find((each) => each === source) ?? "erp");
      const secrets: string[] = [];
      const messages = Array.from({ length: PER_TRIAL }, () => {
        const secret = secretsByMark.get(form) ?? secretOf(random);
        secrets.push(secret);
        if (kind === "proxy") return form === "a query" ? `/web?token=${secret}` : `/my/${secret}${"a1".repeat(10)}/pdf`;
        const template = secretsByMark.has(form) ? "xSECRETy SECRET" : (FORMS.get(form) ?? URL_FORM[1]);
        return place(
          kind,
          template.replaceAll("SECRET", () => secret),
          random,
        );
      });
      const raw = write(kind, messages);
      const sent = readOnMachine(kind);
      const again = await parsed(kind, raw, [...secretsByMark.values()]);
      expect(sent.split("\n").length, "the messages are there").toBeGreaterThan(PER_TRIAL / 2);
      for (const secret of secrets)
        for (const part of [secret.slice(0, 8), secret.slice(-8)]) {
          expect(sent.includes(part), `the machine shows ${part} of ${point}`).toBe(false);
          expect(again.includes(part), `the service shows ${part} of ${point}`).toBe(false);
        }
      counts(PER_TRIAL);
    },
  });
});
