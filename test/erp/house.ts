// What instances on one machine have to themselves, as seen from inside their containers.
import assert from "node:assert/strict";
import * as z from "zod";
import { fetchPage, type Site } from "./erp.ts";
import type { Machine } from "./machine.ts";

const Container = z.object({
  HostConfig: z.object({
    Memory: z.number(),
    NanoCpus: z.number(),
    PidsLimit: z.number(),
    CapDrop: z.array(z.string()),
    SecurityOpt: z.array(z.string()),
  }),
  Image: z.string(),
  Config: z.object({ Image: z.string(), Healthcheck: z.object({ Test: z.array(z.string()) }) }),
  NetworkSettings: z.object({ Networks: z.record(z.string(), z.object({ IPAddress: z.string() })) }),
});
const inspect = (machine: Machine, name: string): z.infer<typeof Container> => {
  const [container] = z.array(Container).parse(JSON.parse(machine.docker("inspect", name)));
  if (container === undefined) throw new Error(`There is no container ${name}`);
  return container;
};

export async function requireSecureSession(site: Site): Promise<void> {
  const { cookies, headers } = await fetchPage(site, "/web/login");
  const session = cookies.find((each) => each.startsWith("session_id="));
  assert.match(session ?? "", /; HttpOnly; Path=\/; Secure; SameSite=Lax$/);
  assert.equal(headers["strict-transport-security"], "max-age=31536000");
}

/** Limits that the machine's memory bears together, no rights, images by their ids. */
export function requireLimits(machine: Machine, instanceIds: readonly string[], memoryBytes: number): void {
  const containers = instanceIds.flatMap((id) => [`erp-${id}`, `erp-${id}-db`]).map((name) => inspect(machine, name));
  for (const { HostConfig, Image, Config } of containers) {
    assert.deepEqual([HostConfig.CapDrop, HostConfig.SecurityOpt], [["ALL"], ["no-new-privileges:true"]]);
    assert(HostConfig.PidsLimit > 0 && HostConfig.NanoCpus > 0);
    assert.equal(Config.Image, Image);
    assert.equal(Config.Healthcheck.Test[0], "CMD");
  }
  const sum = containers.reduce((bytes, { HostConfig }) => bytes + HostConfig.Memory, 0);
  assert(sum > 0 && sum < memoryBytes, `${sum} of ${memoryBytes}`);
}

/** The role of the ERP, with its own password and over its own way, may not do what only a superuser may. */
export function requirePlainRole(machine: Machine, instanceId: string, database: string): void {
  const run = (statement: string): string =>
    machine.docker(
      "exec",
      `erp-${instanceId}`,
      "sh",
      "-c",
      `PGPASSWORD=$(sed -n 's/^db_password = //p' /etc/odoo/odoo.conf) psql -XAtqh db -U odoo -d ${database} -c "${statement}"`,
    );
  assert.equal(
    run(
      "select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls from pg_roles where rolname = current_user",
    ),
    "f\n",
  );
  assert.equal(
    run("select count(*) from pg_auth_members m join pg_roles r on r.oid = m.member where r.rolname = current_user"),
    "0\n",
  );
  for (const statement of [
    "copy (select 1) to program 'id'",
    "select pg_read_file('/etc/passwd')",
    "create database other",
    "create role other superuser",
  ])
    assert.throws(() => run(statement), /permission denied|must be superuser/, statement);
  assert.equal(run("create extension if not exists hstore; drop extension hstore"), "");
}

/** From inside the one's container neither the other nor the inside of the proxy is reached, by name or by address. */
export function requireApart(machine: Machine, one: string, other: string): void {
  const addresses = (name: string): [string, string][] =>
    Object.entries(inspect(machine, name).NetworkSettings.Networks).map(([network, { IPAddress }]) => [network, IPAddress]);
  const proxy = addresses("erp-caddy");
  const ownAddress = proxy.find(([network]) => network === `erp-${one}_edge`)?.[1] ?? "";
  const places = [
    `erp-${other}:8069`,
    `erp-${other}-db:5432`,
    ...addresses(`erp-${other}`).flatMap(([, address]) => [`${address}:8069`, `${address}:8072`]),
    ...addresses(`erp-${other}-db`).map(([, address]) => `${address}:5432`),
    ...proxy.flatMap(([, address]) => [`${address}:8079`, `${address}:2019`]),
  ];
  const code = `
import socket, sys
for place in sys.argv[1:]:
    host, port = place.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 2).close()
        print(place)
    except OSError:
        pass`;
  const reached = (...list: string[]): string[] =>
    machine
      .docker("exec", `erp-${one}`, "python3", "-c", code, ...list)
      .split("\n")
      .filter(Boolean);
  assert.deepEqual(reached("db:5432", `${ownAddress}:443`), ["db:5432", `${ownAddress}:443`], "its own are reached");
  assert.deepEqual(reached(...places), []);
}
