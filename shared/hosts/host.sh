#!/usr/bin/env bash
# What the service does on a machine: jobs that are begun once, work on without it, and tell what became of them.
#
#   begin JOB KIND SECONDS   begins a job that may take so long, its parameters on stdin; one that began is only told of
#   status JOB               state=unknown|running|lost|done|failed, and answer= if done, code=, message=, log= if failed
#   end JOB                  kills it, and those whose ids go on with "JOB-"; what never began cannot begin any more
#   health INSTANCE          healthy=yes|no, reason=
#   probe                    ok
#
# Parameters are NAME=BASE64, one a line, END= the last. What is said in words (answer, message, log, reason) is in base64.
# A job that died without a result (killed, machine restarted) is lost, and begins anew when it is begun again: every kind
# of job may be killed anywhere and run again. Passwords come by stdin, are kept in files of root's, and are never in `ps`.
#
# Below /var/lib/erp-hosting:
#   jobs/JOB/       kind, deadline, parameters (until it ends), alive (locked while it runs), pid, log, result; archive.zip
#   instances/ID/   compose.yaml, odoo.conf, database.env; a file for each fact: version, edition, database, domain,
#                   workers, wanted (running or stopped), initialised, archived_uuid; restores/ID: how far a restore came
#   archives/       downloaded backups by their SHA-256, for a day
#   caddy/          the proxy in front of all instances, a file for each site
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

ROOT=${ERP_HOSTING_ROOT:-/var/lib/erp-hosting}
SYSTEM=${ERP_HOSTING_SYSTEM:-} # in front of /etc, /root and /run, for tests
JOBS=$ROOT/jobs INSTANCES=$ROOT/instances ARCHIVES=$ROOT/archives CADDY=$ROOT/caddy
EDGE=erp-edge   # the network between the proxy and the instances
PROBE_PORT=8079 # where the proxy serves each site without a certificate, to this machine alone
# What must stay free: a database whose disk is full stops, and may not start again.
RESERVE_BYTES=$((256 * 1024 * 1024))
PART_BYTES_MIN=${ERP_HOSTING_PART_BYTES:-$((64 * 1024 * 1024))} # less for tests
PARTS_MAX=9000 # the store takes 10,000

declare -A P=() # the job's parameters

refuse() {
  echo "$1" >&2
  exit 1
}

encoded() { base64 -w0; }

within() { # SECONDS COMMAND…: whether it succeeds before they are over
  local until=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < until)) || return 1
    sleep 0.3
  done
}

# --- The protocol

begin() {
  local id=$1 kind=$2 seconds=$3 job=$JOBS/$1 parameters left
  parameters=$(cat)
  [[ $'\n'$parameters == *$'\n'END= ]] || refuse "The parameters were cut off"
  declare -F "job_$kind" >/dev/null || refuse "There is no kind of job that is called $kind"
  clean_up
  mkdir -p "$job"
  exec 8>"$job/gate" 9>"$job/alive"
  flock 8
  expire "$job"
  if [[ ! -e $job/result ]] && flock -n 9; then
    [[ -s $job/deadline ]] || echo $(($(date +%s) + seconds)) >"$job/deadline"
    left=$(($(<"$job/deadline") - $(date +%s)))
    echo "$kind" >"$job/kind"
    echo "$parameters" >"$job/parameters"
    # It inherits the lock on "alive", and so do its children: as long as one of them lives, the job does.
    setsid timeout --kill-after=10 "$((left > 0 ? left : 1))" bash "$0" run "$id" 8>&- </dev/null >>"$job/log" 2>&1 &
    echo $! >"$job/pid"
  fi
  exec 8>&- 9>&-
  tell "$job"
}

# What nobody asks for any more. An archive that a restore may still need is younger than a day.
clean_up() {
  mkdir -p "$JOBS" "$ARCHIVES" "$INSTANCES" "$ROOT/locks"
  find "$JOBS" -mindepth 1 -maxdepth 1 -mtime +2 -exec rm -rf {} +
  find "$ARCHIVES" -type f -mtime +0 -delete
  find "$ROOT" -maxdepth 1 -name 'script-*.sh' -mtime +30 ! -samefile "$0" -delete
}

status() {
  expire "$JOBS/$1"
  tell "$JOBS/$1"
}

tell() {
  if is_alive "$1"; then # asked first, because a job still lives when it has written its result
    echo state=running
  elif [[ -e $1/result ]]; then
    cat "$1/result"
  elif [[ -e $1/kind ]]; then
    echo state=lost
  else
    echo state=unknown
  fi
}

is_alive() { [[ -e $1/alive ]] && ! flock -n "$1/alive" true; }
is_dead() { ! is_alive "$1"; }

# A job past its time was killed without a result, or outlived whatever should have killed it.
expire() {
  [[ -s $1/deadline && ! -e $1/result ]] || return 0
  local late=$(($(date +%s) - $(<"$1/deadline")))
  if ((late > 15)) || { ((late >= 0)) && is_dead "$1"; }; then stop_job "$1" TIMEOUT "The work on the machine took too long"; fi
}

end() {
  local job
  mkdir -p "$JOBS/$1"
  for job in "$JOBS/$1" "$JOBS/$1"-*; do
    [[ -d $job ]] || continue
    exec 8>"$job/gate"
    flock 8
    stop_job "$job" HOST_JOB_FAILED "The work was ended before it was done"
    exec 8>&-
  done
  tell "$JOBS/$1"
}

stop_job() { # JOB CODE MESSAGE
  local job=$1
  if [[ -e $job/result ]]; then
    within 20 is_dead "$job" || kill_tree "$job"
    return
  fi
  fail_job "$@" # before it dies, so that nobody finds it lost
  kill_tree "$job"
  rm -rf "$job/parameters" "$job/work" "$job/archive.zip"
  if [[ -s $job/instance ]]; then
    load "$(<"$job/instance")"
    sweep
    leave_as_wanted
  fi
}

kill_tree() {
  if is_dead "$1"; then return; fi
  local group
  group=$(<"$1/pid")
  kill -TERM -- "-$group" 2>/dev/null || true
  within 10 is_dead "$1" && return
  kill -KILL -- "-$group" 2>/dev/null || true
  within 20 is_dead "$1" || refuse "The job cannot be killed"
}

fail_job() { # JOB CODE MESSAGE
  local log
  log=$(tail -n 20 "$1/log" 2>/dev/null | tail -c 2048 | encoded) || log=''
  conclude "$1" state=failed "code=$2" "message=$(printf %s "$3" | encoded)" "log=$log"
}

conclude() { # JOB LINE…: the first result stands
  local job=$1 draft=$1/result.$BASHPID
  shift
  printf '%s\n' "$@" >"$draft"
  ln -T "$draft" "$job/result" 2>/dev/null || true
  rm -f "$draft"
}

run() {
  JOB=$JOBS/$1
  local line
  while read -r line; do P[${line%%=*}]=$(base64 -d <<<"${line#*=}"); done <"$JOB/parameters"
  rm -rf "$JOB/work" "$JOB/answer" "$JOB/failure"
  mkdir "$JOB/work"
  trap 'finish $?' EXIT
  trap 'trap - EXIT; exit 143' TERM INT HUP # killed is not failed
  if [[ -n ${P[INSTANCE_ID]:-} ]]; then hold_instance; fi
  "job_$(<"$JOB/kind")"
}

finish() {
  local code=HOST_JOB_FAILED message="The work on the machine stopped; the last lines of its log say why"
  trap - EXIT
  set +e
  if [[ -n ${ID:-} ]]; then leave_as_wanted; fi
  rm -rf "$JOB/parameters" "$JOB/work"
  if (($1 == 0)); then
    conclude "$JOB" state=done "answer=$(cat "$JOB/answer" 2>/dev/null || printf null | encoded)"
  else
    rm -f "$JOB/archive.zip"
    if [[ -s $JOB/failure ]]; then { read -r code && read -r message; } <"$JOB/failure"; fi
    fail_job "$JOB" "$code" "$message"
  fi
}

fail() { # CODE SENTENCE
  printf '%s\n' "$1" "$2" >"$JOB/failure"
  exit 1
}

broken() { fail HOST_JOB_FAILED "$1"; }

answer() { encoded >"$JOB/answer"; }

# Whatever is put into paths, SQL and configuration has the form that it should have.
parameter() { # NAME PATTERN
  [[ ${P[$1]:-} =~ ^($2)$ ]] || broken "The machine was told no valid $1"
  printf %s "${P[$1]}"
}

# --- Instances

hold_instance() {
  local id
  id=$(parameter INSTANCE_ID '[a-z0-9_]+')
  exec 7>"$ROOT/locks/$id"
  flock 7
  echo "$id" >"$JOB/instance"
  load "$id"
  sweep
}

load() {
  ID=$1 HERE=$INSTANCES/$1 PROJECT=erp-$1
  VERSION=$(fact version) DATABASE=$(fact database) DOMAIN=$(fact domain)
}

fact() { cat "$HERE/$1" 2>/dev/null || true; }

set_fact() { # NAME VALUE
  printf %s "$2" >"$HERE/$1.draft"
  mv "$HERE/$1.draft" "$HERE/$1"
}

require_installed() { [[ -n $(fact database) ]] || broken "The ERP is not on the server"; }

# What a job that was killed left running in containers. Only the one that holds the instance may do so.
sweep() {
  docker rm -f "$PROJECT-job" >/dev/null 2>&1 || true
  if is_running "$PROJECT-db"; then
    docker exec "$PROJECT-db" psql -XqAt -U odoo -d postgres \
      -c "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'erp-hosting' and pid <> pg_backend_pid()" \
      >/dev/null 2>&1 || true
  fi
}

is_running() { [[ $(docker inspect -f '{{.State.Running}}' "$1" 2>/dev/null) == true ]]; }

# A stopped instance's database runs while a job needs it.
leave_as_wanted() {
  if [[ $(fact wanted) == stopped ]]; then halt; fi
}

halt() { docker stop -t 30 "$PROJECT" "$PROJECT-db" >/dev/null 2>&1 || true; }

start_erp() {
  require_database "$DATABASE"
  compose up -d
}

compose() {
  local program=(docker-compose)
  if docker compose version >/dev/null 2>&1; then program=(docker compose); fi
  "${program[@]}" -p "$PROJECT" -f "$HERE/compose.yaml" "$@"
}

ensure_database_server() {
  if ! is_running "$PROJECT-db"; then compose up -d db; fi
  within 90 answers_sql || broken "The database server does not start"
}

# Over TCP: while it makes its files, the server listens on its socket alone.
answers_sql() { docker exec "$PROJECT-db" pg_isready -q -h 127.0.0.1 -U odoo; }

sql() { # DATABASE [PSQL OPTION…]: statements on stdin
  local database=$1
  shift
  docker exec -i -e PGAPPNAME=erp-hosting "$PROJECT-db" psql -XqAt -v ON_ERROR_STOP=1 "$@" -U odoo -d "$database"
}

has_database() { [[ $(sql postgres <<<"select 1 from pg_database where datname = '$1'") == 1 ]]; }
require_database() {
  ensure_database_server
  has_database "$1" || broken "The ERP has no database"
}
drop_database() { sql postgres <<<"drop database if exists \"$1\" with (force)"; }

# Stdin is passed on. On the database's network alone: what it starts cannot reach anything else.
odoo() {
  local enterprise=()
  if [[ $(fact edition) == enterprise ]]; then enterprise=(-v "$ROOT/enterprise/$VERSION:/mnt/enterprise:ro"); fi
  docker rm -f "$PROJECT-job" >/dev/null 2>&1 || true
  docker run --rm -i --name "$PROJECT-job" --network "${PROJECT}_db" -v "${PROJECT}_odoo:/var/lib/odoo" \
    -v "$HERE/odoo.conf:/etc/odoo/odoo.conf:ro" "${enterprise[@]}" --entrypoint odoo "odoo:$VERSION" "$@"
}

filestores() { echo "$(docker volume inspect -f '{{.Mountpoint}}' "${PROJECT}_odoo")/filestore"; }

require_room() { # DIRECTORY BYTES WHAT
  local free
  free=$(df --output=avail -B1 "$1" | tail -n 1)
  ((free >= $2 + RESERVE_BYTES)) ||
    broken "$3 needs $(megabytes "$2") MB and a reserve of $(megabytes "$RESERVE_BYTES") MB, but the server's disk has $(megabytes "$free") MB free"
}

megabytes() { echo $((($1 + 1048575) / 1048576)); }

docker_root() { docker info -f '{{.DockerRootDir}}'; }

pull() {
  local image try
  for image in "$@"; do
    for try in 1 2 3 last; do
      if docker image inspect "$image" >/dev/null 2>&1 || docker pull -q "$image"; then break; fi
      [[ $try != last ]] || broken "The image $image cannot be had"
      sleep 10
    done
  done
}

# --- Installing

job_install_erp() {
  local version edition database domain wanted=stopped
  version=$(parameter ERP_VERSION '[0-9]+\.[0-9]+')
  edition=$(parameter EDITION 'community|enterprise')
  database=$(parameter DATABASE_NAME '[a-z][a-z0-9_]{0,62}')
  domain=$(parameter DOMAIN '[a-z0-9.-]+')
  if [[ $(parameter START 'yes|no') == yes ]]; then wanted=running; fi
  [[ ! $database =~ ^(postgres|template[01])$ ]] || broken "The database cannot be called $database: the database server has one of that name"
  pull postgres:16 "odoo:$version"
  require_room "$(docker_root)" $((1024 * 1024 * 1024)) "An ERP"
  if [[ $edition == enterprise ]]; then fetch_enterprise "$version"; fi
  mkdir -p "$HERE/restores"
  set_fact version "$version"
  set_fact edition "$edition"
  set_fact database "$database"
  set_fact domain "$domain"
  set_fact wanted stopped
  load "$ID"
  configure
  compose up --no-start
  ensure_database_server
  if [[ $(parameter DATABASE 'fresh|none') == fresh ]]; then initialise; fi
  serve "$domain"
  set_fact wanted "$wanted"
  if [[ $wanted == running ]]; then start_erp; fi
}

configure() {
  local draft=$JOB/work/odoo.conf user workers
  if [[ ! -s $HERE/database.env ]]; then
    printf 'POSTGRES_USER=odoo\nPOSTGRES_DB=postgres\nPOSTGRES_PASSWORD=%s\n' "$(random)" >"$JOB/work/database.env"
    mv "$JOB/work/database.env" "$HERE/database.env"
  fi
  if [[ ! -s $HERE/odoo.conf ]]; then # containers have the file itself: it is never replaced
    workers=$(workers)
    set_fact workers "$workers"
    odoo_conf "$workers" >"$draft"
    user=$(docker run --rm --entrypoint id "odoo:$VERSION" -u)
    chown "$user" "$draft"
    chmod 400 "$draft"
    mv "$draft" "$HERE/odoo.conf"
  fi
  compose_file >"$HERE/compose.yaml"
}

random() { head -c 24 /dev/urandom | base64 | tr '+/' 'ab'; }

memory_mb() { awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo; }

# Two for each processor, each with some 600 MB after 1 GB for the rest. A small machine has one process with threads.
workers() {
  local by_cpu=$(($(nproc) * 2)) by_memory=$((($(memory_mb) - 1024) / 600)) count
  count=$((by_cpu < by_memory ? by_cpu : by_memory))
  count=$((count > 8 ? 8 : count))
  echo $((count < 2 ? 0 : count))
}

odoo_conf() { # WORKERS
  cat <<CONF
[options]
db_host = db
db_port = 5432
db_user = odoo
db_password = $(sed -n 's/^POSTGRES_PASSWORD=//p' "$HERE/database.env")
db_name = $DATABASE
dbfilter = ^$DATABASE\$
list_db = False
admin_passwd = $(random)
db_maxconn = 16
proxy_mode = True
data_dir = /var/lib/odoo
http_interface = 0.0.0.0
http_port = 8069
gevent_port = 8072
workers = $1
max_cron_threads = 1
limit_memory_soft = 2147483648
limit_memory_hard = 2684354560
CONF
  if [[ $(fact edition) == enterprise ]]; then echo "addons_path = /mnt/enterprise,/mnt/extra-addons"; fi
}

compose_file() {
  local modules=''
  if [[ $(fact edition) == enterprise ]]; then modules=", \"$ROOT/enterprise/$VERSION:/mnt/enterprise:ro\""; fi
  cat <<YAML
x-logging: &logging
  driver: json-file
  options: { max-size: 10m, max-file: "3" }
services:
  db:
    image: postgres:16
    container_name: $PROJECT-db
    restart: unless-stopped
    command: ["postgres", "-c", "max_connections=200"]
    env_file: database.env
    shm_size: 256m
    volumes: ["db:/var/lib/postgresql/data"]
    networks: ["db"]
    logging: *logging
  odoo:
    image: odoo:$VERSION
    container_name: $PROJECT
    restart: unless-stopped
    init: true # without it, an ERP that is still starting cannot be stopped
    # Not the image's own entry point: it puts the database's password on a command line.
    entrypoint: ["odoo", "-c", "/etc/odoo/odoo.conf"]
    command: []
    depends_on: ["db"]
    mem_limit: $(($(memory_mb) * 3 / 4))m
    volumes: ["odoo:/var/lib/odoo", "./odoo.conf:/etc/odoo/odoo.conf:ro"$modules]
    networks: ["db", "edge"]
    logging: *logging
volumes:
  db: { name: ${PROJECT}_db }
  odoo: { name: ${PROJECT}_odoo }
networks:
  db: { name: ${PROJECT}_db, internal: true }
  edge: { name: $EDGE, external: true }
YAML
}

# Once, and again from the beginning if it was cut off. Databases are initialised with nothing but what they need.
initialise() {
  if [[ -e $HERE/initialised ]]; then return; fi
  local without_demo=all
  if ((${VERSION%%.*} >= 19)); then without_demo=1; fi
  drop_database "$DATABASE"
  odoo -c /etc/odoo/odoo.conf -d "$DATABASE" -i base "--without-demo=$without_demo" --stop-after-init --no-http </dev/null
  become fresh "$DOMAIN"
  set_fact initialised yes
}

# fresh: an address, and the administrator's login, e-mail and password; clone: also a uuid and a secret of its own; moved: an address.
become() { # fresh|clone|moved DOMAIN
  local status=0
  {
    echo "import base64, sys, uuid"
    in_python what "$1"
    in_python url "https://$2"
    in_python login "${P[ADMIN_EMAIL]:-}"
    in_python password "${P[ADMIN_PASSWORD]:-}"
    cat <<'PYTHON'
parameters = env["ir.config_parameter"].sudo()
if what == "clone":
    parameters.set_param("database.uuid", str(uuid.uuid4()))
    parameters.set_param("database.secret", str(uuid.uuid4()))
parameters.set_param("web.base.url", url)
parameters.set_param("web.base.url.freeze", "True")
if what != "moved":
    admin = env.ref("base.user_admin")
    env.cr.execute("select 1 from res_users where login = %s and id <> %s", (login, admin.id))
    if env.cr.fetchone():
        sys.exit(3)
    # Not by write(): it would send mail about it, from a clone in the name of the original.
    env.cr.execute("update res_users set login = %s, active = true where id = %s", (login, admin.id))
    admin._set_encrypted_password(admin.id, admin._crypt_context().hash(password))
    env.cr.execute("select 1 from information_schema.columns where table_name = 'res_users' and column_name = 'totp_secret'")
    if env.cr.fetchone():
        env.cr.execute("update res_users set totp_secret = null where id = %s", (admin.id,))
if what == "fresh":
    admin.partner_id.email = login
env.cr.commit()
env.registry.signal_changes()
PYTHON
  } | odoo shell -c /etc/odoo/odoo.conf -d "$DATABASE" --no-http || status=$?
  ((status != 3)) || broken "Another user of the ERP already has the login ${P[ADMIN_EMAIL]}"
  ((status == 0)) || broken "The ERP's address and administrator could not be set"
}

in_python() { printf '%s = base64.b64decode("%s").decode()\n' "$1" "$(printf %s "$2" | encoded)"; }

fetch_enterprise() { # VERSION
  local place=$ROOT/enterprise/$1 found
  if [[ -d $place ]]; then return; fi
  mkdir -p "$ROOT/enterprise" "$JOB/work/enterprise"
  download "${P[ENTERPRISE_URL]:-}" "$JOB/work/enterprise.tar.gz" || broken "The enterprise edition cannot be downloaded from the source that is configured"
  tar -xzf "$JOB/work/enterprise.tar.gz" -C "$JOB/work/enterprise" --no-same-owner || broken "The source of the enterprise edition has no archive that can be unpacked"
  found=$(find "$JOB/work/enterprise" -maxdepth 6 -path '*/web_enterprise/__manifest__.py' -print -quit)
  [[ -n $found ]] || broken "The source of the enterprise edition does not have its modules"
  chmod -R a+rX "$JOB/work/enterprise"
  mv -T "$(dirname "$(dirname "$found")")" "$place"
}

download() { # URL FILE [OPTION…]; the address may hold credentials
  local url=$1 file=$2
  shift 2
  printf 'url = "%s"\n' "$url" |
    curl --config - -fsSL --retry 4 --retry-delay 3 --connect-timeout 20 --speed-limit 1000 --speed-time 60 -o "$file" "$@"
}

job_remove_erp() { remove_instance "$ID"; }

remove_instance() {
  local label=label=com.docker.compose.project=erp-$1
  docker rm -f "erp-$1-job" >/dev/null 2>&1 || true
  docker ps -aq --filter "$label" | xargs -r docker rm -fv >/dev/null
  docker volume ls -q --filter "$label" | xargs -r docker volume rm >/dev/null
  docker network ls -q --filter "$label" | xargs -r docker network rm >/dev/null
  if [[ -e $CADDY/etc/sites/$1.caddy ]]; then
    rm "$CADDY/etc/sites/$1.caddy"
    reload_proxy
  fi
  rm -rf "${INSTANCES:?}/$1"
}

# --- Running

job_start_erp() {
  require_installed
  set_fact wanted running
  start_erp
}

job_stop_erp() {
  require_installed
  set_fact wanted stopped
  halt
  ! is_running "$PROJECT" || broken "The ERP does not stop"
}

job_restart_erp() {
  require_installed
  set_fact wanted running
  halt
  start_erp
}

# More than the ERP's own health page, which is well without a database: a page that needs it, through the proxy.
health() {
  local reason=''
  load "$1"
  [[ -n $DATABASE ]] || reason="The ERP is not on the server"
  [[ -n $reason ]] || is_running "$PROJECT-db" || reason="The database server does not run"
  [[ -n $reason ]] || is_running "$PROJECT" || reason="The ERP does not run"
  [[ -n $reason ]] || is_running erp-caddy || reason="The proxy does not run"
  [[ -n $reason ]] || answers_page /web/health || reason="The ERP does not answer"
  [[ -n $reason ]] || answers_page /web/login || reason="The ERP's login page cannot be shown"
  if [[ -z $reason ]]; then echo healthy=yes; else printf 'healthy=no\nreason=%s\n' "$(printf %s "$reason" | encoded)"; fi
}

answers_page() { # PATH
  local proxy
  proxy=$(docker inspect -f "{{(index .NetworkSettings.Networks \"$EDGE\").IPAddress}}" erp-caddy) || return 1
  curl -fs -m 4 -o /dev/null -H "Host: $DOMAIN" "http://$proxy:$PROBE_PORT$1"
}

# --- The proxy

serve() { # DOMAIN…: under these names and no others
  local sites=$CADDY/etc/sites names='' domain websocket=8072
  if [[ $(fact workers) == 0 ]]; then websocket=8069; fi
  for domain in "$@"; do names+="${names:+, }$domain, http://$domain:$PROBE_PORT"; done
  cp "$sites/$ID.caddy" "$JOB/work/site.before" 2>/dev/null || true
  cat >"$JOB/work/site" <<SITE
$names {
	encode gzip
	@manager path /web/database*
	respond @manager 403
	@websocket path /websocket /websocket/*
	reverse_proxy @websocket $PROJECT:$websocket
	reverse_proxy $PROJECT:8069
}
SITE
  mv "$JOB/work/site" "$sites/$ID.caddy"
  if ! reload_proxy; then
    rm "$sites/$ID.caddy"
    if [[ -e $JOB/work/site.before ]]; then mv "$JOB/work/site.before" "$sites/$ID.caddy"; fi
    broken "The proxy does not take the domain: another instance on the server may have it"
  fi
}

# What is wrong with a new configuration is told, and the old one stays.
reload_proxy() {
  (
    flock 6
    if ! is_running erp-caddy; then PROJECT=erp-caddy HERE=$CADDY compose up -d || exit 1; fi
    within 30 docker exec erp-caddy caddy version >/dev/null || exit 1
    docker exec erp-caddy caddy reload --config /etc/caddy/Caddyfile --adapter caddyfile
  ) 6>"$ROOT/locks/proxy"
}

# The old name goes only when the ERP answers by the new one, as seen from this machine.
job_move_domain() {
  local domain old=$DOMAIN
  require_installed
  domain=$(parameter DOMAIN '[a-z0-9.-]+')
  require_database "$DATABASE"
  if [[ $old != "$domain" ]]; then serve "$old" "$domain"; fi
  become moved "$domain"
  if is_running "$PROJECT"; then
    DOMAIN=$domain
    within 60 answers_page /web/login || broken "The ERP does not answer by its new name"
  fi
  set_fact domain "$domain"
  serve "$domain"
}

# --- Backups

# The database first, the files second: a file is never removed as soon as it is not needed, but a new one is needed at once.
job_make_archive() {
  local work=$JOB/work files
  require_installed
  require_database "$DATABASE"
  files=$(filestores)/$DATABASE
  mkdir -p "$files"
  chown --reference="$(dirname "$(filestores)")" "$(dirname "$files")" "$files"
  require_room "$JOB" $(($(database_bytes) + $(du -sb "$files" | cut -f1))) "A backup of the ERP"
  rm -f "$JOB/archive.zip"
  docker exec -e PGAPPNAME=erp-hosting "$PROJECT-db" pg_dump -U odoo --no-owner --no-privileges "$DATABASE" |
    tee "$work/dump.sql" | attachments_of >"$work/listed"
  tail -n 20 "$work/dump.sql" | grep -q '^-- PostgreSQL database dump complete' || broken "The database could not be dumped completely"
  ln -s "$files" "$work/filestore"
  cd "$work"
  zip -q1r archive.zip dump.sql filestore || (($? == 18)) || broken "The archive could not be written" # 18: a file was removed meanwhile
  rm dump.sql
  unzip -Z1 archive.zip | sed -n 's:^filestore/::p' >"$work/files"
  manifest "$(missing_files "$work/listed" "$work/files")" >manifest.json
  zip -gq1 archive.zip manifest.json
  mv archive.zip "$JOB/archive.zip"
  describe "$JOB/archive.zip" | answer
}

database_bytes() { sql postgres <<<"select pg_database_size('$DATABASE')"; }

# The files that a dump's attachments are in.
attachments_of() {
  awk -F '\t' '
    /^COPY public\.ir_attachment \(/ {
      sub(/^[^(]*\(/, ""); sub(/\).*$/, "")
      count = split($0, names, /, */)
      for (i = 1; i <= count; i++) if (names[i] == "store_fname") column = i
      next
    }
    column && $0 == "\\." { column = 0 }
    column && $column != "\\N" { print $column }'
}

missing_files() { comm -23 <(sort -u "$1") <(sort -u "$2") | wc -l; } # LISTED PRESENT

# As the ERP's own tools write it, and how many of the listed files were missing already.
manifest() { # MISSING
  local version server
  version=$(docker run --rm --entrypoint odoo "odoo:$VERSION" --version | awk '{ print $NF }')
  server=$(sql postgres <<<"show server_version_num")
  sql "$DATABASE" <<<"select coalesce(json_object_agg(name, latest_version), '{}') from ir_module_module where state = 'installed'" |
    jq --arg name "$DATABASE" --arg version "$version" --arg major "$VERSION" --arg server "$((server / 10000)).0" --argjson missing "$1" '{
      odoo_dump: "1", db_name: $name, version: $version,
      version_info: (($major | split(".") | map(tonumber)) + [0, "final", 0, ""]), major_version: $major,
      pg_version: $server, modules: ., missing_files: $missing
    }'
}

describe() { # ARCHIVE
  local size part hex
  size=$(stat -c %s "$1")
  part=$(((size + PARTS_MAX - 1) / PARTS_MAX))
  part=$((part > PART_BYTES_MIN ? part : PART_BYTES_MIN))
  split --bytes="$part" --filter=sha256sum "$1" | while read -r hex _; do
    # shellcheck disable=SC2001,SC2059 # the format is the bytes
    printf "$(sed 's/../\\x&/g' <<<"$hex")" | base64
  done | jq -R . | jq -cs --argjson size "$size" --arg sha256 "$(sha256sum "$1" | cut -d' ' -f1)" --argjson part "$part" \
    '{ size_bytes: $size, sha256: $sha256, part_bytes: $part, parts: . }'
}

job_upload_parts() {
  local archive number url checksum bytes
  archive=$JOBS/$(parameter ARCHIVE_JOB '[A-Za-z0-9_-]+')/archive.zip
  bytes=$(parameter PART_BYTES '[0-9]+')
  [[ -s $archive ]] || broken "The archive is not on the server any more"
  require_room "$JOB" "$bytes" "Sending a backup"
  while read -r number url checksum; do
    dd if="$archive" of="$JOB/work/part" bs=1M iflag=skip_bytes,count_bytes skip=$(((number - 1) * bytes)) count="$bytes" status=none
    printf 'url = "%s"\nheader = "x-amz-checksum-sha256: %s"\n' "$url" "$checksum" |
      curl --config - -fsS --retry 4 --retry-delay 3 --connect-timeout 20 --speed-limit 1000 --speed-time 60 \
        -T "$JOB/work/part" -o /dev/null || fail STORAGE_ERROR "The archive could not be sent to the store"
  done <<<"${P[PARTS]}"
}

job_forget() {
  rm -f "$JOBS/$(parameter JOB '[A-Za-z0-9_-]+')/archive.zip"
}

job_verify_archive() { fetch_archive; }

# Into archives/, whole and checked; what is there already is taken as it is.
fetch_archive() {
  local sha256 size part
  sha256=$(parameter SHA256 '[0-9a-f]{64}')
  size=$(parameter SIZE_BYTES '[0-9]+')
  ARCHIVE=$ARCHIVES/$sha256.zip part=$ARCHIVES/$sha256.part
  exec 5>"$ARCHIVES/$sha256.lock"
  flock 5
  if [[ ! -s $ARCHIVE ]]; then
    # What a broken download left is gone on with, unless it turns out to be something else.
    get_part "$part" "$size" "$sha256" || { rm -f "$part"; get_part "$part" "$size" "$sha256"; } || { rm -f "$part"; corrupt "it does not match its checksum"; }
    require_readable "$part"
    mv "$part" "$ARCHIVE"
  fi
  touch "$ARCHIVE"
  exec 5>&-
  require_room_for_data
}

get_part() { # FILE SIZE SHA256: whether it is what it should be
  local status=0 present
  present=$(stat -c %s "$1" 2>/dev/null || echo 0)
  if ((present < $2)); then
    require_room "$ARCHIVES" $(($2 - present)) "The backup's archive"
    download "${P[URL]}" "$1" -C - --max-filesize "$2" || status=$?
    ((status == 0 || status == 63 || status == 33)) || fail STORAGE_ERROR "The archive could not be read from the store" # 63: too large, 33: cannot be gone on with
  fi
  [[ $(sha256sum "$1" 2>/dev/null | cut -d' ' -f1) == "$3" ]]
}

corrupt() { fail BACKUP_CORRUPT "The backup's archive cannot be used: $1"; }

require_readable() { # ARCHIVE
  local version
  unzip -Z1 "$1" >"$JOB/work/names" 2>/dev/null || corrupt "it cannot be read"
  ! grep -qvE '^(dump\.sql|manifest\.json|filestore/([A-Za-z0-9_-]+/)*[A-Za-z0-9_.-]*)$' "$JOB/work/names" || corrupt "it has files that it should not have"
  ! grep -qE '(^|/)\.\.?(/|$)' "$JOB/work/names" || corrupt "it has files that it should not have"
  ! unzip -Z "$1" | grep -q '^l' || corrupt "it has links"
  grep -qx dump.sql "$JOB/work/names" || corrupt "it has no database"
  version=$(unzip -p "$1" manifest.json | jq -er .major_version) || corrupt "it has no manifest"
  [[ $version == "${P[ERP_VERSION]}" ]] || corrupt "it is of version $version, not of ${P[ERP_VERSION]}"
}

# A database takes about as much again for its indexes.
require_room_for_data() {
  local bytes
  bytes=$(unzip -l "$ARCHIVE" | awk '$4 == "dump.sql" { sum += 2 * $1 } $4 ~ /^filestore\// { sum += $1 } END { printf "%.0f", sum }')
  require_room "$(docker_root)" "$bytes" "The backup's data"
}

# --- Restoring: beside the old, then swapped. How far it came is in restores/ID: building, built, swapping, swapped.

job_restore_archive() {
  require_installed
  name_restore
  case $(fact "restores/$RESTORE") in
    '' | building)
      fetch_archive
      ensure_database_server
      set_fact "restores/$RESTORE" building
      forget_new
      if [[ ${P[RESTORE_DATABASE]} == yes ]]; then build_database; fi
      if [[ ${P[RESTORE_FILESTORE]} == yes ]]; then build_filestore; fi
      if [[ ${P[RESTORE_DATABASE]} == yes ]]; then finish_database; fi
      set_fact "restores/$RESTORE" built
      ;;
  esac
  if [[ $(fact "restores/$RESTORE") != swapped ]]; then swap; fi
  if [[ ${P[KEEP_OLD]} != yes ]]; then drop_old; fi
  if [[ ${P[START]} == yes ]]; then
    set_fact wanted running
    start_erp
  fi
  rm -f "$ARCHIVES/${P[SHA256]}.zip"
}

name_restore() {
  RESTORE=$(parameter RESTORE_ID '[a-z0-9_]{1,50}')
  NEW=new_$RESTORE OLD=old_$RESTORE FILES=$(filestores)
}

forget_new() {
  drop_database "$NEW"
  rm -rf "${FILES:?}/$NEW"
}

# Lines that only the newest clients know, \restrict and \unrestrict, are left out: the archive may come from another machine.
build_database() {
  sql postgres <<<"create database \"$NEW\" template template0 encoding 'UTF8' lc_collate 'C'"
  unzip -p "$ARCHIVE" dump.sql | sed -E '/^\\(un)?restrict [A-Za-z0-9]+$/d' | sql "$NEW" >/dev/null ||
    broken "The backup's database could not be restored"
  set_fact archived_uuid "$(setting "$NEW" database.uuid)"
}

setting() { sql "$1" <<<"select value from ir_config_parameter where key = '$2'"; } # DATABASE KEY

# Files have their content's checksum as their name. Without its database, the archive's are added to those that are there.
build_filestore() {
  mkdir -p "$FILES"
  if [[ ${P[RESTORE_DATABASE]} != yes && -d $FILES/$DATABASE ]]; then
    cp -al "$FILES/$DATABASE" "$FILES/$NEW"
  else
    mkdir "$FILES/$NEW"
  fi
  mkdir "$JOB/work/unpacked"
  if grep -q '^filestore/.*[^/]$' <(unzip -Z1 "$ARCHIVE"); then
    # Beside where they will be, so that they are only moved.
    rm -rf "${FILES:?}/unpacked_$RESTORE"
    unzip -q "$ARCHIVE" 'filestore/*' -d "$FILES/unpacked_$RESTORE"
    cp -aln "$FILES/unpacked_$RESTORE/filestore/." "$FILES/$NEW/"
    rm -rf "${FILES:?}/unpacked_$RESTORE"
  fi
  chown -R --reference="$(dirname "$FILES")" "$FILES"
}

# Its files are there, its address is this instance's, and it is neutralized before it can be started.
finish_database() {
  if [[ ${P[RESTORE_FILESTORE]} == yes ]]; then
    require_listed_files
  else # the ERP makes those of its pages again
    sql "$NEW" <<<"delete from ir_attachment where url like '/web/assets/%'"
  fi
  sql "$NEW" -v "url=https://$DOMAIN" <<'SQL'
insert into ir_config_parameter (key, value) values ('web.base.url', :'url'), ('web.base.url.freeze', 'True')
on conflict (key) do update set value = excluded.value
SQL
  if [[ ${P[NEUTRALIZE]} == yes ]]; then neutralize "$NEW"; fi
}

require_listed_files() {
  local missing known
  sql "$NEW" <<<"select distinct store_fname from ir_attachment where store_fname is not null" >"$JOB/work/listed"
  (cd "$FILES/$NEW" && find . -type f -printf '%P\n') >"$JOB/work/files"
  missing=$(missing_files "$JOB/work/listed" "$JOB/work/files")
  known=$(unzip -p "$ARCHIVE" manifest.json | jq '.missing_files // 0')
  ((missing <= known)) || corrupt "$missing files that its database lists are not in it, $known were missing when it was made"
}

swap() {
  set_fact "restores/$RESTORE" swapping
  docker stop -t 30 "$PROJECT" >/dev/null
  ensure_database_server
  if has_database "$NEW"; then
    end_connections "$DATABASE" "$NEW"
    { # both or neither
      echo "begin;"
      if has_database "$DATABASE"; then echo "alter database \"$DATABASE\" rename to \"$OLD\";"; fi
      echo "alter database \"$NEW\" rename to \"$DATABASE\"; commit;"
    } | sql postgres
  fi
  if [[ -d $FILES/$NEW ]]; then
    if [[ -d $FILES/$DATABASE ]]; then mv -T "$FILES/$DATABASE" "$FILES/$OLD"; fi
    if [[ ! -d $FILES/$OLD ]]; then mkdir "$FILES/$OLD"; fi
    mv -T "$FILES/$NEW" "$FILES/$DATABASE"
  fi
  set_fact "restores/$RESTORE" swapped
}

end_connections() { sql postgres <<<"select pg_terminate_backend(pid) from pg_stat_activity where datname in ('$1', '$2')" >/dev/null; }

# Before anything was swapped, what was built goes, and the ERP, which was never stopped, goes on.
job_put_back() {
  if [[ ! -d $HERE ]]; then return; fi
  name_restore
  local state
  state=$(fact "restores/$RESTORE")
  if [[ -z $state ]]; then return; fi
  ensure_database_server
  if [[ $state == swapping || $state == swapped || $state == undoing ]]; then
    set_fact "restores/$RESTORE" undoing
    docker stop -t 30 "$PROJECT" >/dev/null
    swap_back
    set_fact wanted stopped
    if [[ $(parameter START 'yes|no') == yes ]]; then
      set_fact wanted running
      start_erp
    fi
  fi
  forget_new
  rm -f "$HERE/restores/$RESTORE"
}

swap_back() {
  if has_database "$OLD"; then
    end_connections "$DATABASE" "$OLD"
    {
      echo "begin;"
      if has_database "$DATABASE"; then echo "alter database \"$DATABASE\" rename to \"$NEW\";"; fi
      echo "alter database \"$OLD\" rename to \"$DATABASE\"; commit;"
    } | sql postgres
  fi
  if [[ -d $FILES/$OLD ]]; then
    if [[ -d $FILES/$DATABASE ]]; then mv -T "$FILES/$DATABASE" "$FILES/$NEW"; fi
    mv -T "$FILES/$OLD" "$FILES/$DATABASE"
  fi
}

job_drop_old() {
  require_installed
  name_restore
  require_database "$DATABASE"
  drop_old
  jq -cn --arg neutralized "$(setting "$DATABASE" database.is_neutralized)" '{ neutralized: ($neutralized == "true") }' | answer
}

drop_old() {
  ensure_database_server
  drop_database "$OLD"
  rm -rf "${FILES:?}/$OLD"
  if [[ ${P[KEEP_OLD]:-} != no ]]; then rm -f "$HERE/restores/$RESTORE"; fi # a restore that is run again must find that it was done
}

# --- Clones

job_neutralize() {
  require_installed
  require_database "$DATABASE"
  neutralize "$DATABASE"
}

# The ERP's own command skips modules that it does not find, and leaves the credentials of mail and payment.
neutralize() { # DATABASE
  odoo neutralize -c /etc/odoo/odoo.conf -d "$1" </dev/null || broken "The ERP could not be neutralized"
  sql "$1" <<'SQL'
do $$
declare
  place record;
begin
  for place in
    select table_name, column_name from information_schema.columns
    where table_schema = 'public' and table_name in ('ir_mail_server', 'fetchmail_server', 'payment_provider')
      and data_type in ('character varying', 'text') and is_nullable = 'YES'
      and column_name ~ '(pass|secret|token|key|signature|client_id|merchant|smtp_user)'
  loop
    execute format('update %I set %I = null', place.table_name, place.column_name);
  end loop;
  if to_regclass('fetchmail_server') is not null then update fetchmail_server set active = false; end if;
  if to_regclass('payment_provider') is not null then update payment_provider set state = 'disabled' where state <> 'disabled'; end if;
end $$;
update ir_mail_server set active = false where smtp_host is distinct from 'invalid';
SQL
}

job_personalize() {
  local domain
  require_installed
  require_database "$DATABASE"
  domain=$(parameter DOMAIN '[a-z0-9.-]+')
  become clone "$domain"
  set_fact domain "$domain"
  serve "$domain"
}

# Left out is what the ERP itself leaves on: the job that removes what it needs no more, and a mail server that leads nowhere.
job_verify_clone() {
  local crons mail fetch=0 uuid
  require_installed
  require_database "$DATABASE"
  crons=$(sql "$DATABASE" <<<"select count(*) from ir_cron where active and id not in
    (select res_id from ir_model_data where model = 'ir.cron' and module = 'base' and name = 'autovacuum_job')")
  mail=$(sql "$DATABASE" <<<"select count(*) from ir_mail_server where active and smtp_host is distinct from 'invalid'")
  if [[ $(sql "$DATABASE" <<<"select to_regclass('fetchmail_server') is not null") == t ]]; then
    fetch=$(sql "$DATABASE" <<<"select count(*) from fetchmail_server where active")
  fi
  uuid=$(setting "$DATABASE" database.uuid)
  jq -cn --arg neutralized "$(setting "$DATABASE" database.is_neutralized)" --argjson crons "$crons" --argjson servers "$((mail + fetch))" \
    --arg uuid "$uuid" --arg archived "$(fact archived_uuid)" --arg url "$(setting "$DATABASE" web.base.url)" '{
      is_neutralized: ($neutralized == "true"), active_crons: $crons, active_mail_servers: $servers,
      new_database_uuid: ($uuid != "" and $uuid != $archived), base_url: $url
    }' | answer
}

# --- The machine

job_prepare_host() {
  local server
  server=$(parameter SERVER_ID '[a-z0-9_]+')
  if command -v cloud-init >/dev/null; then timeout 300 cloud-init status --wait >/dev/null || true; fi # it may be installing, too
  install_programs
  install_docker
  if [[ -e $ROOT/server && $(<"$ROOT/server") != "$server" ]]; then remove_all_instances; fi
  echo "$server" >"$ROOT/server"
  if [[ ${P[FIREWALL]:-yes} == yes ]]; then raise_firewall; fi
  upgrade_unattended
  start_proxy
  pull postgres:16
  let_in "${P[SSH_KEYS]:-}"
  make_host_key | answer
}

install_programs() {
  local program missing=()
  for program in curl jq zip unzip; do command -v "$program" >/dev/null || missing+=("$program"); done
  if [[ ${P[FIREWALL]:-yes} == yes ]] && ! command -v nft >/dev/null; then missing+=(nftables); fi
  dpkg -s unattended-upgrades >/dev/null 2>&1 || missing+=(unattended-upgrades)
  install_packages "${missing[@]}"
}

install_packages() {
  if (($# == 0)); then return; fi
  local apt=(apt-get -o DPkg::Lock::Timeout=300 -qq)
  { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@"; } >/dev/null 9>&- ||
    broken "What the machine needs cannot be installed: $*"
}

install_docker() {
  if ! docker info >/dev/null 2>&1; then
    install_packages docker.io
    if [[ -d /run/systemd/system ]]; then systemctl enable --now docker; else service docker start 9>&-; fi
    within 60 docker info >/dev/null 2>&1 || broken "Docker does not start"
  fi
  if docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null; then return; fi
  if apt-cache show docker-compose-v2 >/dev/null 2>&1; then install_packages docker-compose-v2; else install_packages docker-compose; fi
}

# A table of our own: whatever else is on the machine, Docker's rules above all, stays as it is.
raise_firewall() {
  local place=$SYSTEM/etc/erp-hosting ports
  ports=$({ sshd -T 2>/dev/null | awk '$1 == "port" { print $2 }' || true; echo "${SSH_CONNECTION##* }"; } | sort -un | paste -sd, -)
  mkdir -p "$place"
  cat >"$place/firewall.nft" <<NFT
table inet erp_hosting
delete table inet erp_hosting
table inet erp_hosting {
  chain input {
    type filter hook input priority filter; policy drop;
    ct state established,related accept
    ct state invalid drop
    iif lo accept
    meta l4proto { icmp, ipv6-icmp } accept
    tcp dport { ${ports:-22}, 80, 443 } accept
    udp dport { 443, 546 } accept
  }
  # Containers are kept from the address at which the provider tells the machine about itself.
  chain forward {
    type filter hook forward priority filter - 1; policy accept;
    ip daddr 169.254.0.0/16 drop
  }
}
NFT
  nft -f "$place/firewall.nft"
  if [[ ! -d /run/systemd/system ]]; then return; fi
  cat >"$SYSTEM/etc/systemd/system/erp-firewall.service" <<UNIT
[Unit]
Description=Firewall of the ERP hosting
DefaultDependencies=no
Before=network-pre.target
Wants=network-pre.target
After=local-fs.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=$(command -v nft) -f $place/firewall.nft

[Install]
WantedBy=multi-user.target
UNIT
  systemctl daemon-reload
  systemctl enable --now erp-firewall
}

upgrade_unattended() {
  mkdir -p "$SYSTEM/etc/apt/apt.conf.d"
  printf 'APT::Periodic::%s "1";\n' Update-Package-Lists Unattended-Upgrade >"$SYSTEM/etc/apt/apt.conf.d/52erp-hosting"
  chmod 644 "$SYSTEM/etc/apt/apt.conf.d/52erp-hosting"
}

start_proxy() {
  local tls email=${P[ACME_EMAIL]:-}
  tls=$(parameter TLS 'acme|internal')
  [[ -z $email || $email =~ ^[^[:space:]\"{}]+$ ]] || broken "The machine was told no valid ACME_EMAIL"
  pull caddy:2
  mkdir -p "$CADDY/etc/sites" "$ROOT/locks"
  docker network inspect "$EDGE" >/dev/null 2>&1 || docker network create "$EDGE" >/dev/null
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

KEYS_BEGIN="# erp-hosting: the account's keys begin"
KEYS_END="# erp-hosting: the account's keys end"

# The account's keys are in a block of their own: the service's key, and any other, stays.
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

# Only where the present one was made outside the machine. It is shown from adopt_host_key on.
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
  let_in ''
  remove_all_instances
  rm -f "$ROOT/server"
}

remove_all_instances() {
  local instance job
  for instance in "$INSTANCES"/*/; do
    if [[ -d $instance ]]; then remove_instance "$(basename "$instance")"; fi
  done
  docker rm -fv erp-caddy >/dev/null 2>&1 || true # it has the certificates of their domains
  docker volume rm erp-caddy_data erp-caddy_config >/dev/null 2>&1 || true
  rm -rf "${ARCHIVES:?}"/*
  for job in "$JOBS"/*/; do
    if [[ $job != "$JOB/" ]]; then rm -rf "$job"; fi
  done
}

main() {
  local command=${1:-} id=${2:-}
  [[ $command == probe || $id =~ ^[A-Za-z0-9_-]{1,120}$ ]] || refuse "usage: begin JOB KIND SECONDS | status JOB | end JOB | health INSTANCE | probe"
  case $command in
    begin) begin "$id" "$3" "$4" ;;
    status) status "$id" ;;
    run) run "$id" ;;
    end) end "$id" ;;
    health) health "$id" ;;
    probe) echo ok ;;
    *) refuse "There is no command that is called $command" ;;
  esac
}

main "$@"
