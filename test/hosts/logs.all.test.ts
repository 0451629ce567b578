// Logs of containers, read by the real script: a tenant writes them, as much and whatever it likes.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { parseErpLog } from "../../shared/domain/log-lines.ts";
import { ssh } from "../../shared/hosts/ssh.ts";
import { unless } from "../harness/unless.ts";
import { ownAws } from "./cloud.ts";
import { noMachine, startMachine, type TestMachine } from "./machine.ts";

const AT = "2026-11-26T19:00:00.123456789Z";
const ERP_HEAD = "2026-11-26 19:00:00,123 7";

describe("the log of an ERP", unless(noMachine), () => {
  let machine: TestMachine;
  beforeAll(async () => {
    await ownAws();
    machine = await startMachine();
    machine.install("ins_1", {});
    writeFileSync(join(machine.root, "instances/ins_1/odoo.conf"), `db_password = ${PASSWORD}\nadmin_passwd = ${MASTER}\n`);
    writeFileSync(join(machine.root, "instances/ins_1/database.env"), `POSTGRES_PASSWORD=${SUPERUSER}\n`);
  });
  afterEach(() => {
    for (const name of readdirSync(machine.notes)) rmSync(join(machine.notes, name));
  });
  afterAll(() => machine.stop());

  const [PASSWORD, MASTER, SUPERUSER] = ["dbpass-Zq81", "ma[s]ter^\\.*/&$1", "superuser,pass"];
  const REQUEST = { instance_id: "ins_1", source: "erp" } as const;
  const read = async (): Promise<string> => (await ssh.readLog(machine.server, REQUEST)) ?? "no ERP";
  /** What Docker prints of the container's log. */
  async function logged(text: string | Buffer): Promise<string> {
    machine.docker('case "$*" in "logs --timestamps erp-ins_1") cat $NOTES/log >&2 ;; esac');
    writeFileSync(join(machine.notes, "log"), text);
    return read();
  }
  const line = (message: string): string => `${AT} ${ERP_HEAD} INFO shop odoo.http: ${message}\n`;
  /** Of each message, what leaves the machine, and what the service makes of it without the machine's help. */
  async function both(messages: readonly string[]): Promise<string[][]> {
    const text = messages.map(line).join("");
    const onMachine = (await logged(text)).trimEnd().split("\n");
    const inService = parseErpLog(text, [PASSWORD, MASTER, SUPERUSER]);
    return onMachine.map((each, index) => [each, inService[index]?.message ?? ""]);
  }

  const SECRETS = [
    ["a password of a URL", "connect postgres://odoo:SECRET@db/shop"],
    ["an assignment", "password=SECRET done"],
    ["another case, and spaces", "PassWord :  SECRET"],
    ["JSON", '{"db_password": "SECRET", "n": 1}'],
    ["JSON with a quote in it", '{"password": "not all \\"SECRET"}'],
    ["JSON in JSON", '{\\"password\\": \\"SECRET\\"}'],
    ["Python", "{'admin_password': 'SECRET and SECRET'}"],
    ["a quote that does not end", "password='SECRET and SECRET"],
    ["a parameter of a URL", "GET /web?db=shop&access_token=SECRET&x=1"],
    ["an encoded parameter", "GET /web?next=%2Fx%3Ftoken%3DSECRET"],
    ["an option", "odoo --db-password=SECRET --workers=2"],
    ["a header", "Authorization: Basic SECRET"],
    ["a header with parameters", 'authorization: Digest username="x", response="SECRET"'],
    ["a header in Python", "'Authorization': 'Bearer SECRET',"],
    ["a cookie", "Set-Cookie: a=1; other=SECRET; Path=/"],
    ["a session", "session_id=SECRET; Path=/"],
    ["a session of another kind", "sid=SECRET"],
    ["a bearer", "sent bearer SECRETSECRET to x"],
    ["a token in a sentence", "rejected the token SECRETSECRETSECRET of x"],
    ["a key", "api_key: SECRET, api-key=SECRET, X-Api-Key: SECRET"],
    ["a segment of a path", "GET /my/invoice/SECRETa1b2c3d4e5f60718293a4b5c6d7e8f9/pdf"],
    ["a secret after a control character", "\x1b[31mpassword=SECRET\x1b[0m"],
    ["a secret beside bytes that are no text", "\ufffd\ufffdtoken=SECRET"],
  ] as const;

  test("has no secret in it that looks like one", async () => {
    const shown = await both(SECRETS.map(([, message]) => message));
    expect(shown).toHaveLength(SECRETS.length);
    for (const [index, [what]] of SECRETS.entries())
      for (const text of shown[index] ?? []) {
        expect(text, what).toContain("[redacted]");
        expect(text, what).not.toContain("SECRET");
      }
  });

  test("has none of the ERP's own passwords in it, wherever they are", async () => {
    const own = [PASSWORD, MASTER, SUPERUSER];
    const shown = await both(own.map((secret) => `x${secret}y ${secret}`));
    for (const text of shown.flat()) expect(text).toMatch(/x\[redacted\]y \[redacted\]$/);
  });

  test("keeps what only resembles a secret", async () => {
    const plain = "Invalid password for user bob; outside: 5 tokens, GET /web/assets/1/web.assets_web.min.js 200 keyboard=qwerty";
    for (const text of (await both([plain])).flat()) expect(text).toContain(plain);
  });

  test("shows no part of a password that is at the place where a long line is cut", async () => {
    const places = Array.from({ length: 300 }, (_, index) => 7_900 + index);
    const shown = await logged(
      places.map((place) => line(`${"ab ".repeat(3000).slice(0, place - 80)}${PASSWORD}${" b".repeat(9_000)}`)).join(""),
    );
    expect(shown.split("\n").length).toBeGreaterThan(100);
    for (const text of shown.split("\n")) expect(text).not.toContain(PASSWORD.slice(0, 4));
  });

  test("is asked for between two times, which are nothing else", async () => {
    machine.docker('case "$*" in "logs "*) echo "2026-11-26T19:00:00Z $*" ;; esac');
    const times = { since: "2026-11-26T18:00:00.000Z", until: "2026-11-26T19:00:00.001Z" };
    expect(await ssh.readLog(machine.server, { ...REQUEST, ...times })).toContain(
      `logs --timestamps --since ${times.since} --until ${times.until} erp-ins_1`,
    );
    await expect(ssh.readLog(machine.server, { ...REQUEST, since: "--help" })).rejects.toMatchObject({ name: "GiveUp" });
  });

  test("is its end, with whole lines, however much a tenant writes", async () => {
    const shown = await logged(Array.from({ length: 200_000 }, (_, index) => line(`message ${index}`)).join(""));
    expect(shown.length).toBeLessThanOrEqual(1_000_000);
    expect(shown.length).toBeGreaterThan(900_000);
    const messages = parseErpLog(shown).map(({ message }) => message);
    expect(messages.at(-1)).toBe("message 199999");
    expect(new Set(messages.map((message) => message.replace(/\d+$/, "")))).toEqual(new Set(["message "]));
  });

  test("has the beginnings of lines of 50 MB, binary ones too", async () => {
    const shown = await logged(
      Buffer.concat([Buffer.from(`${AT} `), Buffer.alloc(50_000_000, "a"), Buffer.from(`\n${line("after")}`)]),
    );
    expect(shown.length).toBeLessThan(10_000);
    expect(parseErpLog(shown).map(({ message }) => message.length)).toEqual([8192 - 256 - AT.length - 1 + 1, 5]);
    const zeros = await logged(
      Buffer.concat([Buffer.from(`${AT} `), Buffer.alloc(5_000_000), Buffer.from(`\n${line("after")}`)]),
    );
    expect(parseErpLog(zeros).at(-1)?.message).toBe("after");
  });

  test("ends for a container that writes 50 MB a second and never stops", async () => {
    machine.docker('case "$*" in "logs "*) echo $$ > $NOTES/pid; exec yes "2026-11-26T19:00:00Z noise" ;; esac');
    const began = performance.now();
    expect((await read()).length).toBeLessThanOrEqual(1_000_000);
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  test("is text: no command, no pattern, no path and no markup in it means anything", async () => {
    const hostile = [
      "$(touch $NOTES/ran) `touch $NOTES/ran` ; touch $NOTES/ran",
      "' ; touch $NOTES/ran #",
      "lines=aGVsbG8= installed=no",
      "../../etc/passwd",
      "<script>alert(1)</script><img src=x onerror=alert(1)>",
      "s/.*/x/e",
      "-n 5 --help",
    ];
    const shown = parseErpLog(await logged(hostile.map(line).join("") + hostile.map((each) => `${each}\n`).join("")));
    expect(shown.map(({ message }) => message)).toEqual(hostile);
    expect(readdirSync(machine.notes)).not.toContain("ran");
  });

  test("is nothing if the machine has no ERP, and empty if it has no container", async () => {
    machine.docker('case "$*" in "logs "*) echo "Error response from daemon: No such container: erp-ins_1" >&2; exit 1 ;; esac');
    expect(parseErpLog(await read())).toEqual([]);
    expect(await ssh.readLog(machine.server, { ...REQUEST, instance_id: "ins_2" })).toBeUndefined();
  });

  test("comes from a machine that may send anything in its place", async () => {
    const bomb = "head -c 50000000 /dev/zero | gzip -9 | base64 -w0";
    for (const sent of ['echo "lines=not gzip"', `echo "lines=$(${bomb})"`, "echo nonsense", "yes lines=x"]) {
      machine.standIn("bash", `case "$2" in logs) ${sent}; exit ;; esac; exec /bin/bash "$@"`);
      await expect(read(), sent).rejects.toMatchObject({ name: expect.stringMatching(/^(GiveUp|TryAgain)$/) });
    }
    rmSync(join(machine.root, "../commands/bash"));
  });
});
