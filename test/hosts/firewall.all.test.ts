// The firewall's rules in a real kernel: what a container reaches through a bridge of ours, before and after.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hostScript } from "../../shared/hosts/host-script.ts";
import { unless } from "../harness/unless.ts";
import { noMachine } from "./machine.ts";

const hasPrograms = ["nft", "ip", "nsenter"].every((name) => spawnSync("which", [name]).status === 0);

/**
 * A machine, a container behind one of its bridges, and a neighbor with an address in each kind of network; each in its own
 * namespace.
 */
const WORLD = String.raw`
set -euo pipefail
SYSTEM=$PWD/system ROOT=$PWD SSH_CONNECTION="a b c 22" JOB=$PWD
docker() { echo "0123456789ab $BEHIND"; }
BRIDGE=br-0123456789ab PORTS="22 25 53 80 443 2500"
ip link set lo up
unshare --net sleep 300 & CONTAINER=$!
unshare --net sleep 300 & NEIGHBOR=$!
until [[ $(readlink /proc/$CONTAINER/ns/net) != $(readlink /proc/self/ns/net) && $(readlink /proc/$NEIGHBOR/ns/net) != $(readlink /proc/self/ns/net) ]]; do
  sleep 0.1
done
inside() { nsenter -t "$1" -n "${"$"}{@:2}"; }
ip link add $BRIDGE type bridge
ip link add c0 type veth peer name eth0 netns $CONTAINER
ip link add n0 type veth peer name eth0 netns $NEIGHBOR
ip link set c0 master $BRIDGE
for each in $BRIDGE c0 n0; do ip link set $each up; done
for each in $CONTAINER $NEIGHBOR; do inside $each ip link set eth0 up; done
pair() { # INTERFACE NAMESPACE PREFIX BITS
  local nodad=
  if [[ $3 == *:* ]]; then nodad=nodad; fi
  ip address add "$3"1/$4 dev $1 $nodad
  inside $2 ip address add "$3"2/$4 dev eth0 $nodad
}
pair $BRIDGE $CONTAINER 10.213.0. 28
pair $BRIDGE $CONTAINER fd99:: 64
for each in 203.0.113. 192.168.77. 192.168.78. 169.254.169.; do pair n0 $NEIGHBOR $each 24; done
for each in 2001:db8:: fd12:77:: fd12:78::; do pair n0 $NEIGHBOR $each 64; done
inside $CONTAINER ip route add default via 10.213.0.1
inside $CONTAINER ip -6 route add default via fd99::1
inside $NEIGHBOR ip route add 10.213.0.0/28 via 203.0.113.1
inside $NEIGHBOR ip -6 route add fd99::/64 via 2001:db8::1
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
listen="import socket, sys, time
all = [socket.create_server(('::', int(port)), family=socket.AF_INET6, dualstack_ipv6=True) for port in sys.argv[1:]]
print('listening', flush=True)
time.sleep(300)"
python3 -c "$listen" $PORTS >>listening &
inside $NEIGHBOR python3 -c "$listen" $PORTS >>listening &
until [[ $(wc -l <listening) == 2 ]]; do sleep 0.1; done
reach() {
  inside $CONTAINER python3 -c "
import socket, sys
for host in sys.argv[1:]:
    ports = []
    for port in '$PORTS'.split():
        try:
            socket.create_connection((host, int(port)), 2).close()
            ports.append(port)
        except OSError:
            pass
    print(host, *ports)" "$@"
}
reach 192.168.77.2 fd12:77::2 >first # the first packets wait until neighbors are found
reach 192.168.77.2 fd12:77::2 10.213.0.1 fd99::1
raise_firewall
ip neigh flush all # what was found before
inside $CONTAINER ip neigh flush all
reach 203.0.113.2 2001:db8::2 192.168.77.2 fd12:77::2 169.254.169.2 192.168.78.2 fd12:78::2 10.213.0.1 203.0.113.1 fd99::1 2001:db8::1
`;

/** Returns what a container on a network of this name reaches. */
function reachedBy(firewall: "yes" | "no", network: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), "firewall-"));
  try {
    writeFileSync(join(folder, "script.sh"), hostScript());
    const parameters = `P=([FIREWALL]=${firewall} [OPEN_NETWORKS]="192.168.78.0/24 fd12:78::/64")`;
    const world = `source ./script.sh probe >/dev/null\n${parameters}\nBEHIND=${network}\n${WORLD}`;
    writeFileSync(join(folder, "world.sh"), world);
    const namespaces = ["--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"];
    const { stdout, stderr, status } = spawnSync("unshare", [...namespaces, "bash", "world.sh"], {
      cwd: folder,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(stderr || `It ended with ${status}`);
    return stdout.trimEnd().split("\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const NO_WORLD = noMachine ?? (hasPrograms ? undefined : "there is no nft, ip or nsenter here");

/** What the container reaches without the firewall. */
const BEFORE = ["192.168.77.2", "fd12:77::2", "10.213.0.1", "fd99::1"].map((host) => `${host} 22 25 53 80 443 2500`);

test.for(["yes", "no"] as const)(
  "a container reaches the internet, resolvers and opened networks, over IPv4 and IPv6 (a firewall in front of the machine: %s)",
  unless(NO_WORLD),
  (firewall) => {
    expect(reachedBy(firewall, "erp-ins_1_edge")).toEqual([
      ...BEFORE,
      ...["203.0.113.2", "2001:db8::2"].map((host) => `${host} 22 53 80 443 2500`),
      ...["192.168.77.2", "fd12:77::2", "169.254.169.2"].map((host) => `${host} 53`),
      ...["192.168.78.2", "fd12:78::2"].map((host) => `${host} 22 25 53 80 443 2500`),
      ...["10.213.0.1", "203.0.113.1", "fd99::1", "2001:db8::1"].map((host) => `${host} 53 80 443`),
    ]);
  },
);

test("what fetches code reaches https and ssh in the internet, and nothing that was opened for ERPs", unless(NO_WORLD), () => {
  expect(reachedBy("yes", "erp-builder")).toEqual([
    ...BEFORE,
    ...["203.0.113.2", "2001:db8::2"].map((host) => `${host} 22 53 443`),
    ...["192.168.77.2", "fd12:77::2", "169.254.169.2", "192.168.78.2", "fd12:78::2"].map((host) => `${host} 53`),
    ...["10.213.0.1", "203.0.113.1", "fd99::1", "2001:db8::1"].map((host) => `${host} 53`),
  ]);
});
