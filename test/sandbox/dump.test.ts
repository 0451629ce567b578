// An archive of the sandbox brings everything into a restore, whatever its users wrote.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unzipSync, zipSync } from "fflate";
import { buildAttachments, type ErpDatabase } from "../../shared/providers/sandbox/machines.ts";
import { missingFiles, packArchive, unpackArchive } from "../../shared/hosts/sandbox/archive.ts";
import { escapeField, fromDump, toDump, unescapeField } from "../../shared/hosts/sandbox/dump.ts";

const AT = "2026-11-21T12:00:00.000Z";

function erpWith(data: Record<string, unknown>) {
  const { attachments, files } = buildAttachments(data);
  const database: ErpDatabase = {
    uuid: "7d1f6a3e-0000-4000-8000-000000000000",
    secret: "s3cret",
    base_url: "https://shop.example.com",
    neutralized: false,
    crons: [
      { name: "Mail: Email Queue Manager", active: true },
      { name: "Base: Auto-vacuum\tinternal data", active: false },
    ],
    mail_servers: [{ name: "Outgoing mail", active: true }],
    admin_login: "admin@example.com",
    admin_password_hash: "$pbkdf2-sha512$1$a$b",
    users: [
      { login: "demo", password_hash: "$pbkdf2-sha512$1$c$d", api_keys: ["key one", "key\ttwo"] },
      { login: "shut out", password_hash: "", api_keys: [] },
    ],
    data: JSON.stringify(data),
    attachments,
    modules: { base: "19.0.1.3", queue_job: "19.0.2.1" },
    updated_with: "sha256:0b3c",
  };
  return { erp_version: "19.0", edition: "community" as const, database_name: "shop", database, files };
}

/** Everything that a JSON body can contain. */
const json = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ stringUnit: "grapheme" }));

describe("dump", () => {
  test("a dumped field is restored exactly, with every control character and backslash", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const field = escapeField(text);
        expect(field).not.toMatch(/[\t\n\r]/);
        expect(unescapeField(field)).toBe(text);
      }),
      { seed: 1 },
    );
  });

  test("a dumped database is restored exactly", () => {
    fc.assert(
      fc.property(json, (data) => {
        const { database } = erpWith(data);
        expect(fromDump(toDump(database))).toEqual({ database, left_out: [] });
      }),
      { seed: 1 },
    );
  });

  test("a dump with empty tables is restored exactly", () => {
    const database = { ...erpWith({}).database, crons: [], mail_servers: [], users: [] };
    expect(fromDump(toDump(database))).toEqual({ database, left_out: [] });
  });

  test("a dump of another server is restored without what is that server's", () => {
    const { database } = erpWith({ orders: 3 });
    const [begin = "", ...rest] = toDump(database).split("\n\nCOPY ");
    const grant = "\n\n--\n-- Type: ACL\n--\n\nGRANT SELECT ON TABLE public.ir_cron TO metabase;";
    const extension = "SET transaction_timeout = 0;\nCREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;\n";
    const dump = [`${extension}${begin}${grant}`, ...rest].join("\n\nCOPY ");
    expect(fromDump(dump)).toEqual({
      database,
      left_out: [
        { kind: "privileges", count: 1, names: ["GRANT SELECT ON TABLE public.ir_cron TO metabase"] },
        { kind: "settings", count: 1, names: ["SET transaction_timeout = 0"] },
      ],
    });
  });

  test.each([
    ["that is truncated", (dump: string) => dump.slice(0, -40)],
    ["with more at its end", (dump: string) => `${dump}DROP TABLE public.res_users;\n`],
    ["with another statement inside", (dump: string) => dump.replace("COPY public.ir_cron", "SELECT 1;\nCOPY public.ir_cron")],
    ["with a short row", (dump: string) => dump.replace("1\tOutgoing mail\tt", "1\tOutgoing mail")],
    ["with an unknown escape", (dump: string) => dump.replace("1\tOutgoing mail", "1\t\\x41")],
    ["with an invalid flag", (dump: string) => dump.replace("Outgoing mail\tt", "Outgoing mail\ty")],
    ["without a parameter", (dump: string) => dump.replace(/^database\.uuid\t.*\n/m, "")],
  ])("a dump %s is rejected", (_, damage) => {
    const dump = toDump(erpWith({}).database);
    const damaged = damage(dump);
    expect(damaged).not.toBe(dump);
    expect(() => fromDump(damaged)).toThrow(/dump/);
  });
});

describe("archive", () => {
  test("an archive is a zip in the ERP's own layout", () => {
    const { files } = buildAttachments({ orders: 3 });
    const names = Object.keys(unzipSync(packArchive(erpWith({ orders: 3 }), AT)));
    const expected = ["dump.sql", ...Object.keys(files).map((path) => `filestore/${path}`), "manifest.json"];
    expect(names.toSorted()).toEqual(expected.toSorted());
  });

  test("an archive carries any data and files", () => {
    fc.assert(
      fc.property(json, (data) => {
        const erp = erpWith(data);
        const { manifest, database, files } = unpackArchive(packArchive(erp, AT));
        expect(manifest).toMatchObject({ major_version: "19.0", db_name: "shop" });
        expect(database).toEqual(erp.database);
        expect(files).toEqual(erp.files);
      }),
      { seed: 1, numRuns: 30 },
    );
  });

  test("archives of the same contents have the same bytes", () => {
    expect(packArchive(erpWith({ a: 1 }), AT)).toEqual(packArchive(erpWith({ a: 1 }), AT));
  });

  test("an archive without a file that was already missing is accepted, with or without the manifest's count", () => {
    const { files, ...erp } = erpWith({ orders: 3 });
    const [path = "", ...otherPaths] = Object.keys(files);
    const fewer = Object.fromEntries(otherPaths.map((other) => [other, files[other] ?? ""]));
    const { "manifest.json": manifest, ...entries } = unzipSync(packArchive({ ...erp, files: fewer }, AT));
    const { missing_files, ...silent } = JSON.parse(Buffer.from(manifest ?? []).toString());
    expect(missing_files).toBe(1);
    for (const written of [{ ...silent, missing_files }, silent]) {
      const archived = unpackArchive(zipSync({ ...entries, "manifest.json": Buffer.from(JSON.stringify(written)) }));
      expect(archived.files).toEqual(fewer);
      expect(missingFiles(archived)).toEqual([path]);
    }
  });

  test("an archive from before users had API keys can be read", () => {
    const { users, ...database } = erpWith({}).database;
    const dump = toDump({ ...database, users: [] }).replace(/CREATE TABLE public\.res_users_apikeys [\s\S]*?\\\.\n\n/, "");
    expect(dump).not.toContain("apikeys");
    expect(users).not.toEqual([]);
    expect(fromDump(dump).database).toEqual({ ...database, users: [] });
  });
});
