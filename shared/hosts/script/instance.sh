# An instance on the machine: its facts, its containers, its database.

hold_instance() {
  local id
  id=$(parameter INSTANCE_ID '[a-z0-9_]+')
  exec 7>"$ROOT/locks/$id"
  flock 7
  require_docker
  echo "$id" >"$JOB/instance"
  load "$id"
  sweep
  if [[ $(<"$JOB/kind") == remove_erp ]]; then return; fi
  forget_snapshot
  settle_restores
  settle_deploys
  settle_database
}

# For a job that only looks: it waits for no other job on the instance, and neither disturbs nor ends what that does.
look_at_instance() {
  local id
  id=$(parameter INSTANCE_ID '[a-z0-9_]+')
  require_docker
  load "$id"
  ID=''
  echo "$PROJECT" >"$JOB/looks_at"
}

load() {
  ID=$1 HERE=$INSTANCES/$1 PROJECT=erp-$1
  VERSION=$(fact version) DATABASE=$(fact database) DOMAIN=$(fact domain) IMAGE=$(fact image)
  IMAGE=${IMAGE:-odoo:$VERSION}
  NETWORK=${PROJECT}_db DB_HOST=db
}

fact() { cat "$HERE/$1" 2>/dev/null || true; }

# What follows relies on it, also after the machine lost its power.
set_fact() { # NAME VALUE
  printf %s "$2" >"$HERE/$1.draft"
  sync "$HERE/$1.draft"
  mv "$HERE/$1.draft" "$HERE/$1"
  sync "$(dirname "$HERE/$1")"
}

require_installed() { [[ -n $(fact database) ]] || broken "The ERP is not installed on the server"; }

# Removes what a killed job left running in containers. Only the job that locks the instance may do so.
sweep() {
  docker rm -fv "$PROJECT-job" "$PROJECT-files" "$PROJECT-psql" "$PROJECT-pg_dump" "$PROJECT-builder" >/dev/null 2>&1 || true
  if runs "$PROJECT-db"; then
    docker exec "$PROJECT-db" psql -XqAt -U "$(superuser)" -d postgres \
      -c "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'erp-hosting' and pid <> pg_backend_pid()" \
      >/dev/null 2>&1 || true
  fi
}

is_running() { # CONTAINER: only Docker can say no
  local status=0
  runs "$1" || status=$?
  ((status < 2)) || broken "Docker does not say whether $1 runs"
  return "$status"
}

runs() { # CONTAINER: 1 is no, 2 unknown
  local state
  if state=$(docker inspect -f '{{.State.Running}}' "$1" 2>&1); then
    [[ ${state##*$'\n'} == true ]]
  elif [[ ${state,,} != *"no such "@(object|container)* ]]; then
    return 2
  else
    return 1
  fi
}

# Runs a stopped instance's database while a job needs it.
leave_as_wanted() {
  if [[ $(fact wanted) == stopped ]]; then halt; fi
}

halt() {
  resume
  docker stop -t 30 "$PROJECT" "$PROJECT-buffer" "$PROJECT-db" >/dev/null 2>&1 || true
}

start_erp() {
  configure
  prepare_disk
  resume
  require_database "$DATABASE"
  refresh_firewall
  complete_parameters
  configure_buffer # the database says how large uploads may be
  write_compose_file
  compose up -V -d # or a volume that the image declares, and the last container had, would stay in the place of the code
  if ! is_served "$DOMAIN"; then serve "$DOMAIN"; fi
}

# The program that prints PDFs asks the ERP for their style: not by the domain, which may have no DNS record or certificate yet.
REPORT_URL=http://127.0.0.1:8069

# What the database lacks of both. Whoever chose another URL keeps it. Until the first deploy, it was last updated with the image
# that the ERP was installed with; it remembers that, so that it is known to be older where a restore brings it back to a newer
# one.
complete_parameters() {
  sql "$DATABASE" <<<"set statement_timeout = '10s'; insert into ir_config_parameter (key, value)
    values ('report.url', '$REPORT_URL'), ('$HASHES', '{\"$OF_IMAGE\":\"$(image_hash)\"}')
    on conflict (key) do nothing" || true # the ERP's own code may have changed the table
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

# Over TCP: while it creates its files, the server listens only on its socket.
answers_sql() { docker exec "$PROJECT-db" pg_isready -q -h 127.0.0.1; }

# As the superuser only in the server's own database. All others belong to tenants: views, functions and casts in them run with
# the privileges of whoever uses them, so the ERP's role, which has no others, does everything there.
sql() { # DATABASE [PSQL OPTION…]: statements on stdin
  local database=$1 user=odoo
  shift
  if [[ $database == postgres ]]; then user=$(superuser); fi
  sql_as "$user" "$database" "$@"
}

sql_as() { # ROLE DATABASE [PSQL OPTION…]
  local user=$1 database=$2
  shift 2
  docker exec -i -e PGAPPNAME=erp-hosting "$PROJECT-db" psql -XqAt -v ON_ERROR_STOP=1 "$@" -U "$user" -d "$database"
}

# Older instances have the ERP's role as their superuser.
superuser() {
  local name
  name=$(sed -n 's/^POSTGRES_USER=//p' "$HERE/database.env" 2>/dev/null) || true
  echo "${name:-postgres}"
}

ensure_role() {
  sql postgres <<'SQL'
do $$ begin
  if not exists (select from pg_roles where rolname = 'odoo') then create role odoo login; end if;
end $$;
alter role odoo nosuperuser nocreatedb nocreaterole;
SQL
  reset_role
}

# The role may give itself another password, or settings that make a restore or a backup fail. Older instances have it as their
# superuser.
reset_role() { reset_settings "alter role odoo reset all; alter role odoo password '$(odoo_setting db_password)'"; }

reset_settings() { # STATEMENTS
  within 60 change_settings "$1" || broken "The settings of the ERP's database could not be reset"
}

# A transaction of the ERP's that has changed the same settings, and does not end, would hold these for as long as it likes.
change_settings() { # STATEMENTS
  sql postgres <<<"select pg_terminate_backend(pid) from pg_locks
    where relation in ('pg_database'::regclass, 'pg_authid'::regclass, 'pg_db_role_setting'::regclass)
      and mode = 'RowExclusiveLock' and pid <> pg_backend_pid() \\g /dev/null
    set lock_timeout = '5s'; $1"
}

odoo_setting() { sed -n "s/^$1 = //p" "$HERE/odoo.conf"; } # NAME

make_database() { # DATABASE [OWNER]
  sql postgres <<<"create database \"$1\" owner ${2:-odoo} template template0 encoding 'UTF8' lc_collate 'C'"
  keep_unaccent_immutable "$1"
}

# The ERP makes unaccent immutable and uses it in indexes, but pg_dump does not say so, and only a superuser may do it. Whoever
# creates the extension, and in whatever schema: it is immutable at once, until end_unaccent. Nobody else can change what is in
# information_schema.
keep_unaccent_immutable() { # DATABASE: an empty one
  sql_as "$(superuser)" "$1" <<'SQL'
create function information_schema.erp_hosting_unaccent() returns event_trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  name regprocedure;
begin
  for name in
    select objid from pg_depend join pg_extension on refclassid = 'pg_extension'::regclass and refobjid = pg_extension.oid
    where extname = 'unaccent' and classid = 'pg_proc'::regclass and deptype = 'e'
      and objid in (select oid from pg_proc where proname = 'unaccent' and provolatile = 's')
  loop
    execute format('alter function %s immutable', name);
  end loop;
end $$;
create event trigger erp_hosting_unaccent on ddl_command_end when tag in ('CREATE EXTENSION')
  execute function information_schema.erp_hosting_unaccent();
SQL
}

# It stays immutable only where something needs that: an earlier version of the service could not load such a database again.
# What a dump has created, such as an operator, must not run as the superuser.
end_unaccent() { # DATABASE
  sql_as "$(superuser)" "$1" <<'SQL'
set search_path = pg_catalog, pg_temp;
drop function if exists information_schema.erp_hosting_unaccent() cascade;
do $$
declare
  name regprocedure;
begin
  for name in
    select pg_proc.oid from pg_proc join pg_depend on classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e'
      join pg_extension on refclassid = 'pg_extension'::regclass and refobjid = pg_extension.oid
    where extname = 'unaccent' and proname = 'unaccent' and provolatile = 'i'
      and not exists (select from pg_depend as use where use.refclassid = 'pg_proc'::regclass and use.refobjid = pg_proc.oid)
  loop
    execute format('alter function %s stable', name);
  end loop;
end $$;
SQL
}

# Creates the available ones. The ERP's role creates them itself, except for these: they need a superuser, in an empty
# database.
SUPERUSER_EXTENSIONS=(vector)
make_extensions() { # DATABASE NAME…
  local database=$1 name user available
  shift
  for name in "$@"; do
    available=$(sql postgres <<<"select 1 from pg_available_extensions where name = '$name'")
    if [[ $available != 1 ]]; then continue; fi
    user=odoo
    if [[ " ${SUPERUSER_EXTENSIONS[*]} " == *" $name "* ]]; then user=$(superuser); fi
    sql_as "$user" "$database" <<<"create extension if not exists \"$name\""
  done
}

# A server that does not respond is not one without the database.
find_database() { # NAME: sets OID, to nothing if there is none
  OID=$(sql postgres <<<"select oid from pg_database where datname = '$1'") || broken "The database server does not respond"
}

has_database() {
  find_database "$1"
  [[ -n $OID ]]
}

require_database() {
  ensure_database_server
  has_database "$1" || broken "The ERP has no database"
  reset_role
  reset_database "$1"
}

# Its owner may have closed it, or given it settings that make a backup fail.
reset_database() { # DATABASE
  reset_settings "alter role odoo in database \"$1\" reset all; alter database \"$1\" reset all;
    alter database \"$1\" allow_connections true connection limit -1; grant all on database \"$1\" to odoo"
}

# Its owner can make it a template, which cannot be dropped.
drop_database() {
  if ! has_database "$1"; then return; fi
  within 20 change_settings "alter database \"$1\" owner to current_user;
    $(altered "$1" "is_template false")" || return 1
  sql postgres <<<"drop database if exists \"$1\" with (force)"
}

# PostgreSQL calls a database invalid whose removal was interrupted, and refuses this change of it.
altered() { # DATABASE CHANGE: a line for psql
  echo "select 'alter database \"$1\" $2' from pg_database where datname = '$1' and datconnlimit <> -2 \gexec"
}

# Passes on stdin. On the database's network alone: a program in it can reach nothing else.
odoo() {
  local enterprise=()
  if [[ $(fact edition) == enterprise ]]; then enterprise=(-v "$ROOT/enterprise/$VERSION:/mnt/enterprise:ro"); fi
  docker rm -fv "$PROJECT-job" >/dev/null 2>&1 || true
  share
  use_code "$(fact code)"
  docker run --rm -i --log-driver none --name "$PROJECT-job" --network "${PROJECT}_db" --memory "${ERP_MB}m" \
    --memory-swap "${ERP_MB}m" --cpus "$CPUS" --pids-limit 512 --cap-drop ALL --security-opt no-new-privileges \
    --read-only --tmpfs "/tmp:size=${TMP_MB}m,mode=1777" -v "${PROJECT}_odoo:/var/lib/odoo" \
    -v "$HERE/odoo.conf:/etc/odoo/odoo.conf:ro" "${enterprise[@]}" "${CODE_OPTIONS[@]}" --entrypoint odoo "$IMAGE" "$@" \
    "${CODE_ARGUMENTS[@]}" 2>&1 | bounded
}

require_room() { # DIRECTORY BYTES WHAT [free: root does the work, which may use what is reserved, too]
  local free columns=avail
  if [[ ${4:-} == free ]]; then columns=size,used; fi
  free=$(df --output="$columns" -B1 "$1" | awk 'END { printf "%.0f", $1 - $2 }')
  ((free >= $2 + RESERVE_BYTES)) ||
    broken "$3 needs $(megabytes "$2") MB and a reserve of $(megabytes "$RESERVE_BYTES") MB, but the server's disk has $(megabytes "$free") MB free"
}

megabytes() { echo $((($1 + 1048575) / 1048576)); }

docker_root() { timeout 10 docker info -f '{{.DockerRootDir}}'; }
