# Installing an ERP, and removing it.

job_install_erp() {
  local version edition database domain database_image wanted=stopped
  version=$(parameter ERP_VERSION '[0-9]+\.[0-9]+')
  edition=$(parameter EDITION 'community|enterprise')
  database=$(parameter DATABASE_NAME '[a-z][a-z0-9_]{0,62}')
  domain=$(parameter DOMAIN '[a-z0-9.-]+')
  if [[ $(parameter START 'yes|no') == yes ]]; then wanted=running; fi
  [[ ! $database =~ ^(postgres|template[01])$ ]] || broken "The database name $database is reserved by the database server"
  database_image=$(postgres_image)
  pull "$database_image" "odoo:$version" "$NGINX"
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
  resize_others
  compose up --no-start
  ensure_database_server
  ensure_role
  if [[ $(parameter DATABASE 'fresh|none') == fresh ]]; then initialise; fi
  serve "$domain"
  set_fact wanted "$wanted"
  if [[ $wanted == running ]]; then start_erp; fi
  remove_unused_images # the newest images may have taken the names of others
}

# What an installation of an app, a report or an import may take. Scheduled jobs have no limit but that of the processor: 0 would
# be none only with workers, so it is a year.
LIMIT_TIME_CPU=600 LIMIT_TIME_REAL=1200 LIMIT_TIME_REAL_CRON=$((365 * 24 * 3600))

# What an ERP writes outside of its volumes: little, in its memory. Large uploads are among its files, and go with its next start.
TMP_MB=64 ERP_TEMPORARY=/var/lib/odoo/tmp

# Before each start: computes its shares for the current number of instances.
configure() {
  local draft=$JOB/work/odoo.conf user
  pin_images
  share
  if [[ ! -s $HERE/database.env ]]; then
    printf 'POSTGRES_USER=postgres\nPOSTGRES_DB=postgres\nPOSTGRES_PASSWORD=%s\n' "$(random)" >"$JOB/work/database.env"
    mv "$JOB/work/database.env" "$HERE/database.env"
  fi
  if [[ ! -s $HERE/odoo.conf ]]; then # containers have the file itself: it is never replaced
    odoo_conf >"$draft"
    user=$(docker run --rm --network none --entrypoint id "$IMAGE" -u)
    chown "$user" "$draft"
    chmod 400 "$draft"
    mv "$draft" "$HERE/odoo.conf"
  fi
  set_fact workers "$WORKERS"
  write_compose_file
}

write_compose_file() {
  compose_file >"$JOB/work/compose.yaml"
  mv "$JOB/work/compose.yaml" "$HERE/compose.yaml"
}

# PostgreSQL's, of what is new: an instance keeps the one that it was installed with.
postgres_image() { parameter POSTGRES_IMAGE '[a-z0-9][A-Za-z0-9._/:@-]{0,254}'; }

# Resolves the images' names at the installation: images that a later instance pulls do not change this one. Under the lock, no
# other job can remove an image that has been resolved but not yet pinned.
pin_images() {
  (
    flock 5
    pin db_image "${P[POSTGRES_IMAGE]:-}"
    pin image "odoo:$VERSION"
  ) 5>"$ROOT/locks/images"
  IMAGE=$(fact image)
}

pin() { # FACT NAME
  local id
  if [[ -n $(fact "$1") ]]; then return; fi
  id=$(docker image inspect -f '{{.Id}}' "$2")
  set_fact "$1" "$id"
}

# Those that lost their name to a newer one. Docker keeps images that have a container; one that is being installed may have none
# yet. `docker image prune` would remove the images of that one.
remove_unused_images() {
  local image of=(--filter reference=odoo --filter reference=postgres --filter reference=pgvector/pgvector --filter reference=nginx --filter reference=caddy)
  (
    flock 5
    for image in $(docker image ls -q --no-trunc --filter dangling=true "${of[@]}"); do
      if grep -qsF "$image" "$INSTANCES"/*/{image,db_image,db_before} "$INSTANCES"/*/codes/*/{,before_}{image,db_image} "$INSTANCES"/*/codes/*/last_image "$ROOT"/drill/{image,db_image}; then continue; fi
      docker image rm "$image" >/dev/null 2>&1 || true
    done
  ) 5>"$ROOT/locks/images"
  forget_listed_modules
}

random() { head -c 24 /dev/urandom | base64 | tr '+/' 'ab'; }

memory_mb() { awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo; }

# The limits of an instance: an equal share of the memory that the system and the proxy leave, a quarter of what its buffer does
# not need for its database; twice its share of the processors, because seldom all are busy, and never all of them.
share() {
  local count free mb
  count=$(find "$INSTANCES" -mindepth 1 -maxdepth 1 -type d | wc -l)
  count=$((count > 0 ? count : 1))
  free=$(($(memory_mb) * 15 / 16 - 384))
  mb=$((free / count - BUFFER_MB))
  mb=$((mb > 768 ? mb : 768)) # with less neither of them works
  DB_MB=$((mb / 4 > 256 ? mb / 4 : 256))
  ERP_MB=$((mb - DB_MB))
  CPUS=$(awk -v all="$(nproc)" -v count="$count" 'BEGIN {
    share = 2 * all / count
    if (share > 0.9 * all) share = 0.9 * all
    if (share < 0.5) share = 0.5
    printf "%.2f", share
  }')
  WORKERS=$(workers)
}

# Two per processor, each with some 300 MB after 500 for the rest, and at least two, because an ERP without workers never runs
# its scheduled jobs again after its database was down. Below 900 MB there is no room for them.
workers() {
  local by_cpu=$(($(nproc) * 2)) by_memory=$(((ERP_MB - 500) / 300)) count
  count=$((by_cpu < by_memory ? by_cpu : by_memory))
  count=$((count > 8 ? 8 : count))
  count=$((count < 2 ? 2 : count))
  echo $((ERP_MB < 900 ? 0 : count))
}

# With one more instance, the running ones shrink: at once as far as their use allows, the rest when they start. Containers of
# jobs, whose names have one more part, keep what they have.
resize_others() {
  local name used mb needed=0
  docker stats --no-stream --format '{{.Name}} {{.MemUsage}}' | while read -r name used _; do
    case $name in
      "$PROJECT" | "$PROJECT"-* | erp-caddy | "$DRILL" | "$DRILL"-*) continue ;;
      erp-*-db) mb=$DB_MB needed=$(needed_by_database "$name") ;;
      erp-*-*) continue ;;
      erp-*) mb=$ERP_MB needed=0 ;;
      *) continue ;;
    esac
    used=$(numfmt --from=auto --suffix=B --to-unit=1048576 "$used") || continue
    used=$((${used%B} * 5 / 4))
    mb=$((mb > used ? mb : used))
    mb=$((mb > needed ? mb : needed))
    docker update --memory "${mb}m" --memory-swap "${mb}m" --cpus "$CPUS" "$name" >/dev/null || true
  done || true # whatever is not resized now is when it starts
}

# Its settings are those of its start, when its share may have been larger: the buffers that it will fill, as much for its work,
# which has half of that for maintenance alone, and its processes.
needed_by_database() { # CONTAINER
  local buffers
  buffers=$(docker inspect -f '{{.Args}}' "$1" | sed -nE 's/.*shared_buffers=([0-9]{1,6})MB.*/\1/p') || true
  echo $((2 * ${buffers:-0} + 128))
}

odoo_conf() {
  cat <<CONF
[options]
db_host = db
db_port = 5432
db_user = odoo
db_password = $(random)
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
max_cron_threads = 1
limit_memory_soft = 2147483648
limit_memory_hard = 2684354560
CONF
  if [[ $(fact edition) == enterprise ]]; then echo "addons_path = /mnt/enterprise,/mnt/extra-addons"; fi
}

compose_file() {
  local modules='' CODE_VOLUMES CODE_NAMES CODE_VARIABLES CODE_FLAG
  code_in_compose
  if [[ $(fact edition) == enterprise ]]; then modules=", \"$ROOT/enterprise/$VERSION:/mnt/enterprise:ro\""; fi
  cat <<YAML
x-logging: &logging
  driver: json-file
  options: { max-size: 10m, max-file: "3" }
x-limits: &limits
  cap_drop: ["ALL"]
  security_opt: ["no-new-privileges:true"]
  pids_limit: 512
  cpus: $CPUS
services:
  db:
    <<: *limits
    image: "$(fact db_image)"
    container_name: $PROJECT-db
    restart: unless-stopped
    cap_add: ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"] # it starts as root, and becomes its own user
    read_only: true
    tmpfs: ["/run/postgresql:mode=3777,size=16m", "/tmp:size=16m"]
    mem_limit: ${DB_MB}m
    memswap_limit: ${DB_MB}m
    command: ["postgres", "-c", "max_connections=$(((WORKERS + 3) * 16 + 24))", "-c", "shared_buffers=$((DB_MB / 4))MB",
      "-c", "effective_cache_size=$((DB_MB * 3 / 4))MB", "-c", "maintenance_work_mem=$((DB_MB / 8))MB", "-c", "work_mem=$((DB_MB / 128 + 2))MB",
      "-c", "wal_level=minimal", "-c", "max_wal_senders=0", "-c", "max_locks_per_transaction=512"] # see load_dump
    env_file: database.env
    shm_size: 256m
    healthcheck: { test: ["CMD", "pg_isready", "-q", "-h", "127.0.0.1"], interval: 60s, timeout: 10s, start_period: 120s }
    volumes: ["db:/var/lib/postgresql/data"]
    networks: ["db"]
    logging: *logging
  odoo:
    <<: *limits
    image: "$IMAGE"
    container_name: $PROJECT
    restart: unless-stopped
    init: true # without it, an ERP that is still starting cannot be stopped
    # Bypasses the image's own entry point, which puts the database password on a command line. After a restart of the machine
    # both start concurrently, and an ERP without workers that does not find its database never runs its scheduled jobs again.
    entrypoint: ["sh", "-c", "rm -rf $ERP_TEMPORARY; mkdir $ERP_TEMPORARY; until pg_isready -q -h db; do sleep 1; done; exec odoo -c /etc/odoo/odoo.conf --workers=$WORKERS
      --limit-time-cpu=$LIMIT_TIME_CPU --limit-time-real=$LIMIT_TIME_REAL --limit-time-real-cron=$LIMIT_TIME_REAL_CRON$CODE_FLAG"]
    command: []
    environment: { ODOO_HTTP_SOCKET_TIMEOUT: "$CLIENT_SECONDS", TMPDIR: $ERP_TEMPORARY$CODE_VARIABLES }
    read_only: true
    tmpfs: ["/tmp:size=${TMP_MB}m,mode=1777"]
    depends_on: ["db"]
    mem_limit: ${ERP_MB}m
    memswap_limit: ${ERP_MB}m
    healthcheck:
      test: ["CMD", "python3", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8069/web/health', timeout=8)"]
      interval: 60s
      timeout: 10s
      start_period: 300s
    volumes: ["odoo:/var/lib/odoo", "./odoo.conf:/etc/odoo/odoo.conf:ro"$modules$CODE_VOLUMES]
    networks: ["db", "edge"]
    logging: *logging
$(if has_buffer; then buffer_service; fi)
volumes:
  db: { name: ${PROJECT}_db }
  odoo: { name: ${PROJECT}_odoo }
$CODE_NAMES
networks:
  db: { name: ${PROJECT}_db, internal: true }
  edge: { name: ${PROJECT}_edge, labels: { erp-hosting.edge: "yes" } }
YAML
}

# Runs once, and again from the start if it was interrupted. Initializes databases with only what they need.
initialise() {
  if [[ -e $HERE/initialised ]]; then return; fi
  local without_demo=all # the names of modules; since 19.0 yes or no, and "all" is neither
  if ((${VERSION%%.*} >= 19)); then without_demo=1; fi
  drop_database "$DATABASE"
  make_database "$DATABASE"
  make_extensions "$DATABASE" pg_trgm unaccent vector
  end_unaccent "$DATABASE"
  odoo -c /etc/odoo/odoo.conf -d "$DATABASE" -i base "--without-demo=$without_demo" --stop-after-init --no-http </dev/null
  become fresh "$DOMAIN"
  set_fact initialised yes
}

# fresh: an address, and the administrator's login, e-mail and password; clone: also a uuid and a secret of its own; moved: an
# address.
become() { # fresh|clone|moved DOMAIN
  local status=0
  {
    echo "import base64, sys, uuid"
    in_python what "$1"
    in_python url "https://$2"
    in_python report_url "$REPORT_URL"
    in_python login "${P[ADMIN_EMAIL]:-}"
    in_python password "${P[ADMIN_PASSWORD]:-}"
    in_python keep_uuid "${P[KEEP_UUID]:-no}"
    in_python reset_users "${P[RESET_USERS]:-no}"
    cat <<'PYTHON'
parameters = env["ir.config_parameter"].sudo()
if what == "clone":
    if keep_uuid != "yes":
        parameters.set_param("database.uuid", str(uuid.uuid4()))
    parameters.set_param("database.secret", str(uuid.uuid4()))
parameters.set_param("web.base.url", url)
parameters.set_param("web.base.url.freeze", "True")
parameters.set_param("report.url", report_url)
def has(table, column="id"):
    env.cr.execute("select 1 from information_schema.columns where table_schema = 'public' and table_name = %s and column_name = %s", (table, column))
    return env.cr.fetchone() is not None
def clear(table, column, where="true"):
    if has(table, column):
        env.cr.execute(f'update "{table}" set "{column}" = null where {where}')
if reset_users == "yes":
    # The administrator gets another password below. The database's secret signs sessions, and is a new one, too.
    for column in ("password", "totp_secret", "oauth_access_token", "oauth_uid"):
        clear("res_users", column)
    for column in ("signup_token", "signup_type", "signup_expiration"):
        clear("res_partner", column)
    for table in ("res_users_apikeys", "auth_totp_device", "auth_passkey_key"):
        if has(table):
            env.cr.execute(f'delete from "{table}"')
if what != "moved":
    admin = env.ref("base.user_admin")
    env.cr.execute("select 1 from res_users where login = %s and id <> %s", (login, admin.id))
    if env.cr.fetchone():
        sys.exit(3)
    # Without write(), which would send email about it, from a clone in the name of the original.
    env.cr.execute("update res_users set login = %s, active = true where id = %s", (login, admin.id))
    admin._set_encrypted_password(admin.id, admin._crypt_context().hash(password))
    clear("res_users", "totp_secret", f"id = {admin.id}")
if what == "fresh":
    admin.partner_id.email = login
env.cr.commit()
env.registry.signal_changes()
PYTHON
  } | odoo shell -c /etc/odoo/odoo.conf -d "$DATABASE" --no-http || status=$?
  ((status != 3)) || broken "Another user of the ERP already has the login ${P[ADMIN_EMAIL]}"
  ((status == 0)) || broken "The ERP's URL and administrator could not be set"
}

in_python() { printf '%s = base64.b64decode("%s").decode()\n' "$1" "$(printf %s "$2" | encoded)"; }

fetch_enterprise() { # VERSION
  local place=$ROOT/enterprise/$1 found
  if [[ -d $place ]]; then return; fi
  mkdir -p "$ROOT/enterprise" "$JOB/work/enterprise"
  download "${P[ENTERPRISE_URL]:-}" "$JOB/work/enterprise.tar.gz" -f || broken "The enterprise edition could not be downloaded from the configured source"
  tar -xzf "$JOB/work/enterprise.tar.gz" -C "$JOB/work/enterprise" --no-same-owner || broken "The archive of the enterprise edition could not be unpacked"
  found=$(find "$JOB/work/enterprise" -maxdepth 6 -path '*/web_enterprise/__manifest__.py' -print -quit)
  [[ -n $found ]] || broken "The archive of the enterprise edition does not contain its modules"
  chmod -R a+rX "$JOB/work/enterprise"
  # Two instances may fetch it concurrently: the first one's is there.
  mv -T "$(dirname "$(dirname "$found")")" "$place" || [[ -d $place ]]
}

download() { # URL FILE OPTION…: what to do with an error is one of them; the address may hold credentials
  local url=$1 file=$2
  shift 2
  printf 'url = "%s"\n' "$url" |
    curl --config - -sSL --retry 4 --retry-delay 3 --connect-timeout 20 --speed-limit 1000 --speed-time 60 -o "$file" "$@"
}

job_remove_erp() {
  remove_instance "$ID"
  remove_unused_images
}

remove_instance() {
  local label=label=com.docker.compose.project=erp-$1
  docker rm -fv "erp-$1-job" "erp-$1-files" "erp-$1-psql" "erp-$1-builder" "erp-$1-check" >/dev/null 2>&1 || true
  docker ps -aq --filter "$label" | xargs -r docker rm -fv >/dev/null
  docker volume ls -q --filter "$label" | xargs -r docker volume rm >/dev/null
  docker network disconnect -f "erp-$1_edge" erp-caddy >/dev/null 2>&1 || true
  docker network ls -q --filter "$label" | xargs -r docker network rm >/dev/null
  if [[ -e $CADDY/etc/sites/$1.caddy ]]; then
    flock "$ROOT/locks/proxy" rm -f "$CADDY/etc/sites/$1.caddy" "$CADDY/etc/sites/$1".from-*.caddy
    reload_proxy
  fi
  access_logs "$1" | xargs -r rm -f
  forget_project "$1"
  rm -rf "${INSTANCES:?}/$1"
  remove_unused_buffers
}
