# The machine itself: its packages, who may sign in, and its host key.

job_prepare_host() {
  local server database_image
  server=$(parameter SERVER_ID '[a-z0-9_]+')
  database_image=$(postgres_image)
  if command -v cloud-init >/dev/null; then timeout 300 cloud-init status --wait >/dev/null || true; fi # it may be installing, too
  install_programs
  install_docker
  configure_docker
  if is_of_another "$server"; then take_over; fi
  echo "$server" >"$ROOT/server"
  raise_firewall
  upgrade_unattended
  start_proxy
  keep_watch
  pull "$database_image" "$NGINX"
  let_in "${P[SSH_KEYS]:-}"
  make_host_key | answer
}

# Deleting a server removes what it leaves. Remaining ERPs do no harm, but may be someone's only copy.
take_over() {
  if [[ -n $(ls "$INSTANCES") ]]; then
    broken "The machine still has ERPs of another server. If nobody needs them, remove its containers and volumes whose names start with erp-, and the contents of $INSTANCES"
  fi
  remove_all_instances
}

install_programs() {
  local program missing=()
  for program in curl jq openssl; do command -v "$program" >/dev/null || missing+=("$program"); done
  command -v nft >/dev/null || missing+=(nftables)
  for program in ca-certificates unattended-upgrades; do dpkg -s "$program" >/dev/null 2>&1 || missing+=("$program"); done
  install_packages "${missing[@]}"
}

install_packages() {
  if (($# == 0)); then return; fi
  local apt=(apt-get -o DPkg::Lock::Timeout=300 -qq)
  # The package lists have their own lock, for which nothing waits, and a machine that has just started may be updating them.
  { within 120 "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@"; } >/dev/null 9>&- ||
    broken "Required packages could not be installed: $*"
}

install_docker() {
  if ! docker info >/dev/null 2>&1; then
    install_packages docker.io
    command -v docker >/dev/null || install_packages docker-cli # a package of its own since Debian 13
    if [[ -d /run/systemd/system ]]; then systemctl enable --now docker; else service docker start 9>&-; fi
    within 60 docker info >/dev/null 2>&1 || broken "Docker does not start"
  fi
  if docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null; then return; fi
  if apt-cache show docker-compose-v2 >/dev/null 2>&1; then install_packages docker-compose-v2; else install_packages docker-compose; fi
}

# Containers keep running while Docker restarts, and there are enough networks: two per instance, while Docker's own
# ranges end near thirty. The rest of its configuration stays, and no container stops: a reload turns this on first.
configure_docker() {
  local file=$SYSTEM/etc/docker/daemon.json draft=$JOB/work/daemon.json ipv6=false
  mkdir -p "$(dirname "$file")"
  [[ -s $file ]] || echo '{}' >"$file"
  if has_ipv6; then ipv6=true; fi
  # Before Docker 27, ip6tables is experimental. Whoever has set it keeps that.
  jq --argjson pools "$(address_pools)" --argjson ipv6 "$ipv6" '."live-restore" = true | ."default-address-pools" //= $pools
    | if $ipv6 and (has("ip6tables") | not) then .ip6tables = true | .experimental = true else . end' "$file" >"$draft" ||
    broken "Docker's configuration $file could not be read"
  if [[ $(jq -S . "$file") == "$(jq -S . "$draft")" ]]; then return; fi
  [[ $(docker info -f '{{.Swarm.LocalNodeState}}') != active ]] || broken "Docker on the machine belongs to a swarm, where containers stop with Docker"
  chmod 644 "$draft"
  cp "$draft" "$file.draft"
  mv "$file.draft" "$file"
  if [[ -d /run/systemd/system ]]; then systemctl reload docker; else kill -HUP "$(<"$SYSTEM/run/docker.pid")"; fi
  within 30 keeps_containers || broken "Docker does not accept its configuration $file"
  # Docker reads ranges of addresses only when it starts.
  if [[ -d /run/systemd/system ]]; then systemctl restart docker; else service docker restart 9>&-; fi
  within 60 docker_answers || broken "Docker does not start"
}

# Docker would not start with ip6tables if the kernel has no translation of IPv6 addresses.
has_ipv6() { [[ -d /proc/sys/net/ipv6 ]] && ip6tables -t nat -S >/dev/null 2>&1; }

keeps_containers() { [[ $(docker info -f '{{.LiveRestoreEnabled}}') == true ]]; }

# A range without a route from here: 4,096 networks of 13 containers. Docker's own bridge keeps its usual one.
address_pools() {
  local number base
  for number in {213..128}; do
    base=10.$number.0.0/16
    if [[ -n $(ip -4 route show table all root "$base") ]]; then continue; fi
    if ip -4 route show table all match "$base" | grep -qv '^default'; then continue; fi
    jq -cn --arg base "$base" '[{ base: "172.17.0.0/16", size: 16 }, { base: $base, size: 28 }]'
    return
  done
  broken "There is no free IP address range for the machine's containers"
}

upgrade_unattended() {
  mkdir -p "$SYSTEM/etc/apt/apt.conf.d"
  printf 'APT::Periodic::%s "1";\n' Update-Package-Lists Unattended-Upgrade >"$SYSTEM/etc/apt/apt.conf.d/52erp-hosting"
  chmod 644 "$SYSTEM/etc/apt/apt.conf.d/52erp-hosting"
}

start_proxy() {
  local tls email=${P[ACME_EMAIL]:-}
  tls=$(parameter TLS 'acme|internal')
  [[ -z $email || $email =~ ^[^[:space:]\"{}]+$ ]] || broken "The parameter ACME_EMAIL is invalid"
  pull caddy:2
  mkdir -p "$CADDY/etc/sites" "$ROOT/locks"
  renew_edge || broken "The proxy's network could not be replaced"
  {
    echo "{"
    if [[ -n $email ]]; then echo "	email $email"; fi
    if [[ $tls == internal ]]; then printf '\tlocal_certs\n\tskip_install_trust\n'; fi
    echo "}"
    echo "import /etc/caddy/sites/*.caddy"
  } >"$CADDY/etc/Caddyfile.draft"
  mv "$CADDY/etc/Caddyfile.draft" "$CADDY/etc/Caddyfile"
  cat >"$CADDY/compose.yaml" <<YAML
services:
  caddy:
    image: caddy:2
    container_name: erp-caddy
    restart: unless-stopped
    cap_drop: ["ALL"]
    cap_add: ["NET_BIND_SERVICE"]
    security_opt: ["no-new-privileges:true"]
    read_only: true
    tmpfs: ["/tmp"]
    mem_limit: 256m
    memswap_limit: 256m
    environment: ["GOMEMLIMIT=200MiB"]
    pids_limit: 512
    cpu_shares: 4096 # all instances wait behind it
    healthcheck: { test: ["CMD", "wget", "-q", "-O", "/dev/null", "http://127.0.0.1:2019/config/"], interval: 60s, timeout: 10s }
    ports: ["80:80", "443:443", "443:443/udp"]
    volumes: ["./etc:/etc/caddy:ro", "data:/data", "config:/config"]
    networks: ["edge"]
    logging: { driver: json-file, options: { max-size: 10m, max-file: "3" } }
volumes:
  data: { name: erp-caddy_data }
  config: { name: erp-caddy_config }
networks:
  edge: { name: $EDGE, external: true }
YAML
  reload_proxy || broken "The proxy does not start: ports 80 and 443 must be free"
}

# An operator's command, for machines that were prepared before the proxy's network had IPv6. Sites do not respond for some
# seconds.
renew_proxy() {
  JOB=$(mktemp -d)
  trap 'if [[ -e $JOB/failure ]]; then tail -n 1 "$JOB/failure" >&2; fi; rm -rf "$JOB"' EXIT
  mkdir "$JOB/work"
  require_docker
  configure_docker
  if ! (flock 6 && renew_edge) 6>"$ROOT/locks/proxy"; then
    reload_proxy || true # the old network is still there
    broken "The proxy's network could not be replaced"
  fi
  reload_proxy || broken "The proxy does not start"
  refresh_firewall
}

# A network cannot change. The proxy of one that is replaced goes with it, and starts when it is needed next.
renew_edge() {
  if has_ipv6 && [[ $(docker network inspect -f '{{.EnableIPv6}}' "$EDGE" 2>/dev/null) == false ]]; then
    docker rm -f erp-caddy >/dev/null 2>&1 || true
    docker network rm "$EDGE" >/dev/null || return 1
  fi
  require_edge
}

require_edge() { docker network inspect "$EDGE" >/dev/null 2>&1 || make_edge; }

# With IPv6, so that connections reach the proxy with their visitors' addresses, as those over IPv4 do. Without it, a program of
# Docker's takes them, and is the visitor. The ERPs have no IPv6.
make_edge() {
  keep_ipv6_routes
  if has_ipv6 && docker network create --ipv6 --subnet "$(own_range)" "$EDGE" >/dev/null; then return; fi
  docker network create "$EDGE" >/dev/null
}

# At random, as RFC 4193 has it.
own_range() {
  local hex
  hex=$(od -An -N7 -tx1 /dev/urandom | tr -d ' \n')
  echo "fd${hex:0:2}:${hex:2:4}:${hex:6:4}:${hex:10:4}::/64"
}

# A network with IPv6 makes the machine a router, and routers ignore the advertisements by which many machines have their own
# route.
keep_ipv6_routes() {
  local setting name file=$SYSTEM/etc/sysctl.d/60-erp-hosting.conf
  mkdir -p "$(dirname "$file")"
  : >"$file"
  for setting in "$SYSTEM"/proc/sys/net/ipv6/conf/*/accept_ra; do
    name=$(basename "$(dirname "$setting")")
    if [[ $name =~ ^(all|default|lo|docker.*|br-.*|veth.*)$ || $(cat "$setting" 2>/dev/null) != 1 ]]; then continue; fi
    echo 2 >"$setting" || continue
    echo "net/ipv6/conf/$name/accept_ra = 2" >>"$file"
  done
  chmod 644 "$file"
}

KEYS_BEGIN="# erp-hosting: the account's keys begin"
KEYS_END="# erp-hosting: the account's keys end"

# The account's keys are in their own block: the service's key, and any other, stays.
let_in() { # LINES
  local file=$SYSTEM/root/.ssh/authorized_keys
  mkdir -p "$(dirname "$file")"
  touch "$file"
  {
    sed "/^$KEYS_BEGIN\$/,/^$KEYS_END\$/d" "$file"
    if [[ -n $1 ]]; then printf '%s\n' "$KEYS_BEGIN" "$1" "$KEYS_END"; fi
  } >"$file.draft"
  mv "$file.draft" "$file"
}

# Only if the present key was generated outside the machine. The machine shows it from adopt_host_key on.
make_host_key() {
  local key=$ROOT/host-key/ssh_host_ed25519_key
  if [[ ! -e $SYSTEM/etc/erp-hosting/one-time-host-key ]]; then
    echo '{"host_key":null}'
    return
  fi
  mkdir -p "$ROOT/host-key"
  if [[ ! -s $key.pub ]]; then
    rm -f "$key"
    ssh-keygen -q -t ed25519 -N '' -C '' -f "$key"
  fi
  jq -cn --arg key "$(cut -d' ' -f1,2 "$key.pub")" '{ host_key: $key }'
}

job_adopt_host_key() {
  local key=$ROOT/host-key/ssh_host_ed25519_key place=$SYSTEM/etc/ssh
  if [[ ! -s $key ]]; then return; fi
  cp "$key.pub" "$place/ssh_host_ed25519_key.pub"
  cp "$key" "$place/.adopted"
  mv "$place/.adopted" "$place/ssh_host_ed25519_key"
  find "$place" -maxdepth 1 -name 'ssh_host_*_key*' ! -name 'ssh_host_ed25519_key*' -delete
  if [[ -z $SYSTEM && -d /run/systemd/system ]]; then systemctl reload-or-restart ssh; else kill -HUP "$(<"$SYSTEM/run/sshd.pid")"; fi
  rm -f "$SYSTEM/etc/erp-hosting/one-time-host-key"
  rm -rf "$ROOT/host-key"
}

job_retire_host() {
  local server
  server=$(parameter SERVER_ID '[a-z0-9_]+')
  require_docker
  if is_of_another "$server"; then return; fi # its creation was rejected, and this undoes it
  let_in ''
  remove_all_instances
  forget_watch
  rm -f "$ROOT/server"
}

# ERPs on a machine that is nobody's may be someone's only copy, too.
is_of_another() { # SERVER
  if [[ -e $ROOT/server ]]; then [[ $(<"$ROOT/server") != "$1" ]]; else [[ -n $(ls "$INSTANCES") ]]; fi
}

remove_all_instances() {
  local instance job
  for instance in "$INSTANCES"/*/; do
    if [[ -d $instance ]]; then remove_instance "$(basename "$instance")"; fi
  done
  remove_drill
  docker rm -fv erp-caddy >/dev/null 2>&1 || true # it has the certificates of their domains
  docker volume rm erp-caddy_data erp-caddy_config >/dev/null 2>&1 || true
  rm -rf "${ARCHIVES:?}"/*
  for job in "$JOBS"/*/; do
    if [[ $job != "$JOB/" ]]; then rm -rf "$job"; fi
  done
}
