// A machine for tests: an SSH server on loopback with a real shell and stand-ins for Docker and similar commands, in its own
// folder.
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { HostedServer } from "../../shared/hosts/host.ts";
import { createKeyPair } from "../../shared/platform/key-pair.ts";
import { serviceKey } from "../../shared/platform/service-key.ts";
import { startSshServer } from "./ssh-server.ts";

const hasProgram = (name: string): boolean =>
  ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin"].some((folder) => existsSync(join(folder, name)));

/** Why there can be no machine here; undefined if there can be one. */
export const noMachine = missing();

function missing(): string | undefined {
  // Runs as root, because a stand-in for a container has namespaces and its own user.
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "they need Linux, and root";
  const programs = ["curl", "flock", "jq", "openssl", "python3", "unshare", "setpriv"].filter((name) => !hasProgram(name));
  if (programs.length > 0) return `there is no ${programs.join(", no ")} here`;
  return spawnSync("unshare", ["--mount", "--net", "--pid", "--fork", "true"]).status === 0
    ? undefined
    : "no namespaces can be made here";
}

export interface TestMachine {
  server: HostedServer;
  /** Replaces /var/lib/erp-hosting. */
  root: string;
  /** Other files of the stand-ins: their calls, and their instructions from tests. */
  notes: string;
  /** /var/lib/odoo in the ERP's container: the code in there writes whatever it likes. */
  volume: string;
  hostKey: string;
  /** A command that comes before the machine's own in the PATH. It may use $NOTES. */
  standIn: (name: string, script: string) => void;
  /** The machine's Docker: containers run, databases exist, and this script does the rest. */
  docker: (work: string) => void;
  /** Installs an ERP with these files on the machine. */
  install: (instanceId: string, files: Readonly<Record<string, Buffer>>) => void;
  /** Breaks all connections. */
  cut: () => void;
  /** Disturbs the next connection, once, after so many bytes to the machine. */
  disturb: (disturbance: Disturbance, afterBytes: number) => void;
  /** A file of the machine; those of /etc and /root are below `system`. */
  read: (name: string) => string;
  /** The SSH server's log. */
  log: () => string;
  stop: () => Promise<void>;
}

/** The size of the pieces in which archives are read. */
export const PIECE_BYTES = 1024 ** 2;

/**
 * Instead of nsenter: each ERP's sign-in page with a stylesheet and a script; of what the note `broken-page` names, it has none.
 */
export const PAGES = `config="$*"; config=\${config##*--config }; [[ "$*" != *--config* ]] || awk -F'"' -v broken="$(cat $NOTES/broken-page 2> /dev/null)" '
  /^output/ { to = $2 }
  /^write-out/ {
    split($2, word, " ")
    if (to != "/dev/null") print "<link href=\\"/web/assets/1/a.css\\"/> <script src=\\"/web/assets/1/a.js\\"/>" > to
    print word[1], word[2], 0, word[2] == broken ? 500 : 200, 100
  }' "\${config%% *}"`;

const DATABASE = "shop";
/**
 * A server's databases: their names and oids are in the note `databases`, if a test has written it. Otherwise all exist. As in
 * psql, a statement that fails undoes all others.
 */
const DATABASES = `databases() {
  local all=$NOTES/databases draft=$NOTES/databases.draft what kind name more
  cp $all $draft
  tr ";'\\"" "\\n  " <<<"$1" | while read -r what kind name more; do
    case "$what $kind" in
      "select oid") sed -n "s/^\${more##* } //p" $draft ;;
      "create database") echo "$name $((RANDOM + 100))" >> $draft ;;
      "drop database") sed -i "/^$(cut -d' ' -f3 <<<"$more") /d" $draft ;;
      "alter database")
        grep -q "^$name " $draft || exit 3
        case $more in "rename to "*) sed -i "s/^$name /\${more##* } /" $draft ;; esac ;;
    esac
  done || exit 3
  mv $draft $all
}`;
/** The script's questions to Docker before and after its actual work. */
const DOCKER = `${DATABASES}
case "$*" in
  *"--entrypoint python3"*)
    [ ! -e $NOTES/before-files ] || bash $NOTES/before-files "$@"
    exec CONTAINER "$@" ;;
  *"--entrypoint p"[sg]*) [ ! -e $NOTES/no-client ] || exit 125 ;;&
  *"--entrypoint psql"*)
    exec 3< "$(sed -E 's/.*source=([^,]+),target=.in .*/\\1/' <<<"$*")"
    [ ! -e $NOTES/meanwhile ] || bash $NOTES/meanwhile
    cat <&3 > $NOTES/restored.sql
    if [ -e $NOTES/sql-error ]; then cat $NOTES/sql-error >&2; exit "$(cat $NOTES/sql-status 2> /dev/null || echo 3)"; fi ;;
  "compose version" | "rm -f"* | *pg_isready*) ;;
  "volume inspect"*) echo "VOLUME" ;;
  inspect*OOMKilled*) grep -sqx "\${!#}" $NOTES/killed && echo true || echo false ;;
  inspect*Running*) grep -sqx "\${!#}" $NOTES/ended && echo false || echo true ;;
  inspect*) echo true ;;
  info*) [ ! -e $NOTES/away ] || exit 1; echo "VOLUME" ;;
  "image inspect"*) if [ -e $NOTES/images ]; then bash $NOTES/images "$@"; else echo "sha256:image"; fi ;;
  *"--entrypoint id"*) echo 101 ;;
  *"-v held"*)
    while IFS= read -r line; do
      echo "$line" >> $NOTES/held
      if [[ $line == *pg_export_snapshot* ]]; then
        [ ! -e $NOTES/at-snapshot ] || bash $NOTES/at-snapshot
        echo 00000003-0000001B-1
      fi
    done ;;
  *psql*)
    if [ -e $NOTES/database-says ]; then cat > /dev/null; cat $NOTES/database-says; exit; fi
    asked=$(tee -a $NOTES/asked)
    if [ -e $NOTES/recovers-at ] && [[ $asked == *"$(< $NOTES/recovers-at)"* ]]; then
      echo "psql: error: FATAL:  the database system is in recovery mode" >&2
      exit 2
    fi
    if [ -e $NOTES/fails-at ] && [[ $asked == *"$(head -n 1 $NOTES/fails-at)"* ]]; then
      if [[ "$*" == *VERBOSITY=verbose* ]]; then sed 1d $NOTES/fails-at >&2; else sed -E '1d; s/[0-9A-Z]{5}: //' $NOTES/fails-at >&2; fi
      exit 3
    fi
    if [ -e $NOTES/databases ]; then databases "$asked"; fi
    case $asked in
      *pg_terminate_backend*)
        if [ -e $NOTES/endless ]; then echo 1; elif [ -e $NOTES/sessions ]; then cat $NOTES/sessions; rm $NOTES/sessions; else echo 0; fi ;;
      *"from pg_database where"*) [ -e $NOTES/databases ] || echo 1 ;;
      *server_version_num*) echo 160001 ;;
      *"select name from pg_available_extensions"*) cat $NOTES/available 2> /dev/null || true ;;
      *json_object_agg*) echo '{}' ;;
      *"select json_build_array(left(name, 100), left(latest_version, 50))"*) cat $NOTES/installed 2> /dev/null || cat $NOTES/counted 2> /dev/null || true ;;
      *"select value from ir_config_parameter"*) cat $NOTES/hashes 2> /dev/null || true ;;
      *pg_settings*) echo '{"present":["plpgsql","vector"],"creatable":["pg_trgm","unaccent"],"settings":["statement_timeout","client_encoding"]}' ;;
      *"json_build_array(store_fname"*) cat $NOTES/attachments 2> /dev/null ;;
      *json_build_array*) cat $NOTES/counted 2> /dev/null ;;
      *"name = 'base'"*) cat $NOTES/base 2> /dev/null || echo 19.0.1.3 ;;
      *"distinct store_fname"*) [ ! -e $NOTES/listed ] || cat $NOTES/listed ;;
      *) echo 1 ;;
    esac ;;
  *"--entrypoint pg_dump"*)
    [ ! -e $NOTES/meanwhile ] || bash $NOTES/meanwhile
    if [ -e $NOTES/dump.sql ]; then cat $NOTES/dump.sql; else printf '%s\\n' "create table t ();" "-- PostgreSQL database dump complete"; fi \\
      > "$(sed -E 's/.*source=([^,]+),target=.out .*/\\1/' <<<"$*")" ;;
  *--version) echo "Odoo Server 19.0" ;;
  *)
    WORK
    ;;
esac`;

/** Docker's configuration is complete, because nobody could reload it here. */
const DAEMON = { "live-restore": true, "default-address-pools": [], ip6tables: true };
/** The user of the ERP's image. */
const ERP_USER = 101;

/**
 * A container as `docker run` starts it for the script's Python, without Docker: the ERP's volume (on request) and programs,
 * nothing else of the machine's files, no network, and no privileges. Without `--norc`, bash may take its input for a remote
 * shell's, and then reads the ~/.bashrc of whoever runs the tests: up to a second for each container.
 */
const CONTAINER = `#!/bin/bash
volume= in= out=
while [ "$1" != --entrypoint ]; do
  case $1 in
    type=volume*) volume=VOLUME ;;
    type=bind,source=*,target=/in) in=\${1#*source=} in=\${in%,*} ;;
    type=bind,source=*,target=/out) out=\${1#*source=} out=\${out%,*} ;;
  esac
  shift
done
shift 3
export volume in out
exec unshare --mount --net --pid --fork --kill-child bash --norc -c '
  umask 022; root=/mnt
  mount -t tmpfs none $root && mkdir -p $root/usr $root/var/lib/odoo && mount --bind /usr $root/usr || exit 125
  for name in bin lib lib64; do if [ -L /$name ]; then cp -P /$name $root; fi; done
  if [ -n "$volume" ]; then mount --bind $volume $root/var/lib/odoo || exit 125; fi
  if [ -n "$in" ]; then touch $root/in; mount --bind $in $root/in || exit 125; fi
  if [ -n "$out" ]; then touch $root/out; mount --bind $out $root/out || exit 125; fi
  rights="--reuid ${ERP_USER} --regid ${ERP_USER} --clear-groups --no-new-privs --bounding-set=-all"
  exec env - PATH=/usr/bin:/usr/sbin LANG=C.UTF-8 chroot $root setpriv $rights python3 "$@"
' container "$@"
`;

/** `keysInFile`: it lets in who is in root's file, which has the service's key, and not the service in any case. */
export async function startMachine({ keysInFile = false } = {}): Promise<TestMachine> {
  const folder = mkdtempSync(join(tmpdir(), "machine-"));
  const within = (name: string): string => join(folder, name);
  const [root, notes, commands] = [within("root"), within("notes"), within("commands")];
  const volume = within("volume");
  for (const each of [root, notes, commands, volume, within("system/etc/docker")]) mkdirSync(each, { recursive: true });
  chownSync(volume, ERP_USER, ERP_USER); // as Docker creates it, from the image
  writeFileSync(within("system/etc/docker/daemon.json"), JSON.stringify(DAEMON));
  const hostKey = createKeyPair(randomBytes(32), "machine");
  const environment = {
    ERP_HOSTING_ROOT: root,
    ERP_HOSTING_SYSTEM: within("system"),
    ERP_HOSTING_PART_BYTES: String(5 * 1024 ** 2),
    ERP_HOSTING_PIECE_BYTES: String(PIECE_BYTES),
  };
  const path = `${commands}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
  const standIn = (name: string, script: string): void => {
    writeFileSync(join(commands, name), `#!/bin/bash\n${script}\n`);
    chmodSync(join(commands, name), 0o755);
  };
  // Nothing is mounted here, no gigabytes are allocated, and no rules are set.
  standIn("nft", ":");
  standIn("fallocate", 'touch "${!#}"');
  standIn("mke2fs", "exit 1");
  // Nor is the computer of the tests rebooted or updated.
  for (const name of ["shutdown", "systemctl", "apt-get", "dpkg"]) standIn(name, ":");
  writeFileSync(within("container"), CONTAINER.replace("VOLUME", volume));
  chmodSync(within("container"), 0o755);
  const { public_key } = await serviceKey();
  const keyFile = within("system/root/.ssh/authorized_keys");
  if (keysInFile) {
    mkdirSync(dirname(keyFile), { recursive: true });
    writeFileSync(keyFile, public_key, { mode: 0o600 }); // without an end of the line, as an editor may leave it
  }
  const sshd = await startSshServer({
    hostKey: hostKey.private_key,
    authorized: () => (keysInFile ? readFileSync(keyFile, "utf8").split("\n") : [public_key]),
    environment: { ...environment, NOTES: notes, PATH: path },
  });
  const wire = await startWire(sshd.port);
  return {
    server: { id: "srv_test", machine_id: null, ip_address: "127.0.0.1", ssh_port: wire.port, host_keys: [hostKey.public_key] },
    root,
    notes,
    volume,
    hostKey: hostKey.public_key,
    standIn,
    docker: (work) =>
      standIn(
        "docker",
        DOCKER.replaceAll("VOLUME", volume)
          .replace("CONTAINER", within("container"))
          .replace("WORK", () => work),
      ),
    install: (instanceId, files) => {
      const here = join(root, "instances", instanceId);
      const filestore = join(volume, "filestore", DATABASE);
      for (const each of [here, join(here, "restores"), filestore, join(root, "locks"), join(root, "caddy/etc/sites")])
        mkdirSync(each, { recursive: true });
      const facts = { version: "19.0", edition: "community", database: DATABASE, domain: "shop.example.com", wanted: "running" };
      for (const [name, value] of Object.entries(facts)) writeFileSync(join(here, name), value, { mode: 0o600 });
      writeFileSync(join(here, "odoo.conf"), "db_user = odoo\ndb_password = secret\n", { mode: 0o600 });
      writeFileSync(join(root, "caddy/etc/Caddyfile"), "import /etc/caddy/sites/*.caddy\n", { mode: 0o600 });
      for (const [name, bytes] of Object.entries(files)) writeFileSync(join(filestore, name), bytes);
      execFileSync("chown", ["-R", String(ERP_USER), volume]);
    },
    cut: wire.cut,
    disturb: wire.disturb,
    read: (name) => readFileSync(within(name), "utf8"),
    log: sshd.log,
    stop: async () => {
      for (const pid of processesWith(`ERP_HOSTING_ROOT=${root}`)) signal(pid, "SIGKILL");
      await wire.stop();
      await sshd.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The processes with this text in their environment: those of one machine and no others. */
export const processesWith = (variable: string): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => environmentOf(pid).split("\0").includes(variable))
    .map(Number);

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return ""; // it has ended, or belongs to the kernel
  }
}

export function signal(pid: number, name: "SIGKILL" | "SIGTERM"): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error; // it ended first
  }
}

const PAUSE_MS_MIN = 20;
/** A question over SSH costs more of a busy machine than it would gain by being asked sooner. */
const PAUSE_MS_MAX = 200;

/** Waits until a condition is true: longer than anything takes on a busy machine. */
export async function until(condition: string, isTrue: () => boolean | Promise<boolean>, seconds = 180): Promise<void> {
  const limit = Date.now() + seconds * 1000;
  for (let pause = PAUSE_MS_MIN; !(await isTrue()); pause = Math.min(2 * pause, PAUSE_MS_MAX)) {
    if (Date.now() > limit) throw new Error(`It took too long: ${condition}`);
    await sleep(pause);
  }
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return z.object({ port: z.number() }).parse(server.address()).port;
}

export const DISTURBANCES = ["cut", "slow", "response lost", "silent"] as const;
/** `silent` passes nothing on any more, `response lost` nothing from the machine, and breaks a moment later. */
type Disturbance = (typeof DISTURBANCES)[number];

const SLOW_MS = 150;
const LOST_MS = 300;

/** The connection between the service and the machine, which tests disturb. */
async function startWire(to: number) {
  const open = new Set<Socket>();
  let next: { disturbance: Disturbance; remainingBytes: number } | undefined;
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const server = createServer((near) => {
    const far = connect(to, "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        open.delete(socket);
        other.destroy();
      });
    }
    let disturbance: Disturbance | undefined;
    const passOn = (target: Socket, bytes: Buffer): void => {
      if (disturbance === "slow") setTimeout(() => target.write(bytes), SLOW_MS);
      else target.write(bytes);
    };
    far.on("data", (bytes) => {
      if (disturbance !== "silent" && disturbance !== "response lost") passOn(near, bytes);
    });
    near.on("data", (bytes) => {
      if (disturbance !== "silent") passOn(far, bytes);
      if (next === undefined) return;
      next.remainingBytes -= bytes.length;
      if (next.remainingBytes > 0) return;
      disturbance = next.disturbance;
      next = undefined;
      if (disturbance === "cut") cut();
      if (disturbance === "response lost") setTimeout(cut, LOST_MS);
    });
  });
  const port = await portOf(server);
  return {
    port,
    cut,
    disturb: (disturbance: Disturbance, afterBytes: number): void => void (next = { disturbance, remainingBytes: afterBytes }),
    stop: async () => {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
