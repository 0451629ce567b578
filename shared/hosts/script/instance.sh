# An instance on the machine: its facts, its containers, its database.

hold_instance() {
  local id
  id=$(parameter INSTANCE_ID '[a-z0-9_]+')
  exec 7>"$ROOT/locks/$id"
  flock 7
  echo "$id" >"$JOB/instance"
  load "$id"
  sweep
  if [[ $(<"$JOB/kind") != remove_erp ]]; then settle_restores; fi
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

# The newest of each, or the one that is there if the registry cannot be reached.
pull() {
  local image try
  for image in "$@"; do
    for try in 1 2 3 last; do
      if docker pull -q "$image" || docker image inspect "$image" >/dev/null 2>&1; then break; fi
      [[ $try != last ]] || broken "The image $image cannot be had"
      sleep 10
    done
  done
}
