# Restore drills: an archive is restored into a database and a file tree of its own, checked, and removed again. Its containers
# share one network namespace with nothing in it, so there is no way out. Its archive is hostile, like any other: its dump is
# loaded with the ERP's own role, in a database server that has no other databases.

DRILL=erp-drill
DRILL_DB_MB=384 DRILL_ERP_MB=768

job_drill_archive() {
  local version edition
  version=$(parameter ERP_VERSION '[0-9]+\.[0-9]+')
  edition=$(parameter EDITION 'community|enterprise')
  P[RESTORE_DATABASE]=yes P[RESTORE_FILESTORE]=yes
  hold_drill
  open_drill "$version" "$edition"
  require_room_for_data
  require_memory $((DRILL_DB_MB + DRILL_ERP_MB)) "A restore drill"
  bring_drill_code
  start_drill_database
  try_restore
  if [[ -n $MISSING ]]; then
    try_rows
    try_files
    try_boot
  fi
  jq -cs '{ checks: . }' "$JOB/work/checks" | answer
  remove_drill
}

# One at a time: a drill that its operation has given up may still run.
hold_drill() {
  exec 7>"$ROOT/locks/drill"
  flock 7
  require_docker
  touch "$JOB/drill"
  remove_drill # what one that was killed has left
}

open_drill() { # VERSION EDITION
  local image database_image
  ID='' HERE=$ROOT/drill PROJECT=$DRILL DATABASE=drill NEW=drill VERSION=$1 UNPACK=(try)
  NETWORK=container:$DRILL-db DB_HOST=127.0.0.1
  mkdir -p "$HERE"
  set_fact edition "$2"
  if [[ $2 == enterprise ]]; then fetch_enterprise "$1"; fi
  database_image=$(postgres_image)
  for image in "$database_image" "odoo:$1"; do docker image inspect "$image" >/dev/null 2>&1 || pull "$image"; done
  pin_images
  configure_drill
  : >"$JOB/work/checks"
}

# A dump may contain commands that connect as the superuser: in the image, its own network namespace needs no password otherwise.
configure_drill() {
  local user
  printf 'POSTGRES_USER=postgres\nPOSTGRES_DB=postgres\nPOSTGRES_PASSWORD=%s\nPOSTGRES_INITDB_ARGS=--auth-host=scram-sha-256\n' "$(random)" \
    >"$HERE/database.env"
  odoo_conf | sed 's/^db_host = .*/db_host = 127.0.0.1/; s/^max_cron_threads = .*/max_cron_threads = 0/' >"$HERE/odoo.conf"
  user=$(docker run --rm --network none --entrypoint id "$IMAGE" -u)
  chown "$user" "$HERE/odoo.conf"
  chmod 400 "$HERE/odoo.conf"
}

# Whatever fails here is no fault of the archive: it fails the drill, and not a check.
bring_drill_code() {
  if [[ -z ${P[REPOSITORIES]:-} ]]; then return; fi
  CODE=drill CODE_HOME=$HERE/codes/drill
  bring_code
  set_fact code "$CODE"
}

# The instances' limits add up to the machine's memory, but they seldom use all of it. Of a machine that runs short, the drill
# ends first.
require_memory() { # MEGABYTES WHAT
  local free
  free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
  ((free >= $1)) || broken "$2 needs $1 MB of memory, but the server has $free MB free"
}

# A sixteenth of an instance's share where processors are scarce.
drill_container() { # NAME MEGABYTES OPTION…
  local name=$1 mb=$2
  shift 2
  docker run -d --name "$name" --log-driver none --memory "${mb}m" --memory-swap "${mb}m" --cpu-shares 64 --pids-limit 512 \
    --oom-score-adj 1000 --cap-drop ALL --security-opt no-new-privileges "$@" >/dev/null
}

# Nobody needs its data after a crash: it never waits for the disk.
start_drill_database() {
  drill_container "$DRILL-db" "$DRILL_DB_MB" --network none --cap-add CHOWN --cap-add DAC_OVERRIDE --cap-add FOWNER --cap-add SETGID \
    --cap-add SETUID --read-only --tmpfs /run/postgresql:mode=3777 --tmpfs /tmp --shm-size 256m --env-file "$HERE/database.env" \
    -v "${DRILL}_db:/var/lib/postgresql/data" "$(fact db_image)" postgres -c listen_addresses=127.0.0.1 -c fsync=off \
    -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=96MB -c maintenance_work_mem=48MB -c wal_level=minimal \
    -c max_wal_senders=0 -c max_locks_per_transaction=512 || broken "The throwaway database server does not start"
  within 90 answers_sql || broken "The throwaway database server does not start"
  ensure_role
  make_database "$NEW"
  make_extensions "$NEW" "${SUPERUSER_EXTENSIONS[@]}"
}

check() { # NAME true|false|null DETAIL
  jq -cn --arg name "$1" --argjson passed "$2" --arg detail "$(tr -cd '[:print:]' <<<"$3" | head -c 300)" \
    '{ name: $name, passed: $passed, detail: $detail }' >>"$JOB/work/checks"
}

# An error of the machine is not the archive's: it fails the drill, and not the check. Sets MISSING, the number of files that were
# missing at the backup, if the archive could be restored.
try_restore() {
  local status=0 error version
  MISSING=''
  with_archive unpack >"$JOB/work/said" || status=$?
  if ((status == 3)); then
    check restores false "The archive cannot be read: $(reported '.error | strings')"
    return
  fi
  if ((status != 0)); then files_failed "The throwaway files could not be written"; fi
  if [[ -e $JOB/work/not-loaded ]]; then
    error=$(load_error)
    check restores false "The database reports: $(without_state "$error")"
    return
  fi
  version=$(reported '.version | strings')
  if [[ $version != "$VERSION" ]]; then
    check restores false "The archive is of version $version, not of $VERSION"
    return
  fi
  MISSING=${P[MISSING_FILES]:+$(number <<<"${P[MISSING_FILES]}")}
  MISSING=${MISSING:-$(reported_number known_missing)}
  sql "$NEW" <<<analyze >/dev/null
  check restores true "The database was restored without an error"
}

# By psql's status, and not by its text, much of which is the archive's: 3 is an error of its statements. Any other means that the
# machine ended psql, or its connection. An archive that provokes that fails its own drill or import, and passes no check.
require_own_error() { # STATUS
  require_alive "$DRILL-db" "The throwaway database server"
  (($1 == 3)) || broken "The connection to the throwaway database server was lost"
}

# SQLSTATEs of errors that are the server's, and no dump's: its resources, its operator, its system, its files, such as those of
# dictionaries, and itself.
SERVERS_ERRORS='(53|57|58|F0|XX)[0-9A-Z]{3}: '
reject_servers_error() { # "SQLSTATE: MESSAGE"
  [[ ! $1 =~ ^$SERVERS_ERRORS ]] || broken "The throwaway database server reports: $(tr -cd '[:print:]' <<<"${1#*: }" | head -c 200)"
}

# Statements of the drill's or the import's own, on what was restored. Fails if the archive is the cause.
ask() { # sql | count_rows | remove_generated
  local status=0
  "$1" "$NEW" -v VERBOSITY=verbose 2>"$JOB/work/errors" || status=$?
  if ((status == 0)); then return; fi
  head -c 10000 "$JOB/work/errors" >&2
  require_own_error "$status"
  reject_servers_error "$(sed -nE '/^(ERROR|FATAL): +/ { s///p; q }' "$JOB/work/errors")"
  return 1
}

# The drill's containers are the first to end if memory runs short.
require_alive() { # CONTAINER WHAT
  if ran_out_of_memory "$1"; then broken "$2 ran out of memory"; fi
  is_running "$1" || broken "$2 stopped"
}

ran_out_of_memory() { [[ $(docker inspect -f '{{.State.OOMKilled}}' "$1") == true ]]; } # CONTAINER

# What is wrong with the dump: the database's error, with its SQLSTATE, or psql's own about a command in it.
load_error() {
  local error
  require_own_error "$(<"$JOB/work/not-loaded")"
  error=$(grep -m 1 -E '^psql:/in:[0-9]+: (ERROR|FATAL|error): ' "$JOB/work/said") || broken "The throwaway database could not be loaded"
  error=$(sed -E 's/^psql:[^ ]+ [A-Za-z]+: +//' <<<"$error")
  reject_servers_error "$error"
  echo "$error"
}

without_state() { sed -E 's/^[0-9A-Z]{5}: //' <<<"$1"; } # "SQLSTATE: MESSAGE"

try_rows() {
  ask count_rows <<<"begin;" >"$JOB/work/counted" || {
    check rows false "The rows could not be counted"
    return
  }
  files rows <"$JOB/work/counted" || files_failed "The row counts could not be compared"
  check rows "$(reported '.passed | tostring')" "$(reported '.detail | strings')"
}

try_files() {
  local listed=$JOB/work/listed
  ask sql <<<"select json_build_array(store_fname, checksum) from ir_attachment where store_fname is not null" >"$listed" || {
    check files false "The database has no list of its files"
    return
  }
  files verify "$NEW" "$MISSING" <"$listed" || files_failed "The restored files could not be compared"
  check files "$(reported '.passed | tostring')" "$(reported '.detail | strings')"
}

DRILL_BOOT_SECONDS=240 DRILL_PAGE_SECONDS=120
try_boot() {
  local modules=()
  ask remove_generated || true # a database that has no such table fails its start
  if [[ $(fact edition) == enterprise ]]; then modules=(-v "$ROOT/enterprise/$VERSION:/mnt/enterprise:ro"); fi
  use_code "$(fact code)"
  drill_container "$DRILL" "$DRILL_ERP_MB" --network "$NETWORK" --read-only --tmpfs "/tmp:size=${TMP_MB}m,mode=1777" -v "${DRILL}_odoo:/var/lib/odoo" \
    -v "$HERE/odoo.conf:/etc/odoo/odoo.conf:ro" "${modules[@]}" "${CODE_OPTIONS[@]}" --entrypoint odoo "$IMAGE" -c /etc/odoo/odoo.conf \
    --workers=0 --max-cron-threads=0 "${CODE_ARGUMENTS[@]}" || broken "The throwaway ERP does not start"
  if within "$DRILL_BOOT_SECONDS" shows_login_or_ends && shows_login && within "$DRILL_PAGE_SECONDS" loads_page_or_ends && loads_page; then
    if [[ -n $REDIRECTED ]]; then
      check boots true "The ERP started without scheduled jobs, and its sign-in page responds"
    else
      check boots true "The ERP started without scheduled jobs, and its sign-in page loads with a stylesheet and a script"
    fi
  else
    require_alive "$DRILL-db" "The throwaway database server"
    if ran_out_of_memory "$DRILL"; then broken "The throwaway ERP ran out of memory"; fi
    if [[ ${FAULT:-page} == page ]]; then
      check boots false "The ERP started on the restored data does not show its sign-in page"
    else
      check boots false "The ERP started on the restored data shows its sign-in page, but a $FAULT of it does not load"
    fi
  fi
}

# The ERP generates what its first page needs, which takes a slow machine a while.
loads_page() { # sets FAULT
  local place fault
  FAULT=page
  place=$(docker inspect -f '{{.State.Pid}}' "$DRILL-db") || return 1
  fault=$(echo "$DRILL localhost" | faulty_pages "$place" 8069 "$JOB/work/page") || return 1
  FAULT=${fault##* }
  [[ -z $FAULT ]]
}

loads_page_or_ends() { loads_page || ! is_running "$DRILL"; }

shows_login_or_ends() { shows_login || ! is_running "$DRILL"; }

# A redirect leads to single sign-on, which cannot be reached from here, or to the choice of a database, and then there is none.
shows_login() { # sets REDIRECTED
  local place response
  place=$(docker inspect -f '{{.State.Pid}}' "$DRILL-db") || return 1
  response=$(nsenter -t "$place" -n curl -s -m 20 -o /dev/null -w '%{http_code} %{redirect_url}' http://127.0.0.1:8069/web/login) || true
  REDIRECTED=$(sed -nE 's/^30[12378] +//p' <<<"$response")
  [[ $response =~ ^200 || (-n $REDIRECTED && ! $REDIRECTED =~ ^[a-z]+://[^/]+/web/database/) ]]
}

job_remove_drill() {
  require_docker
  remove_drill
}

# By their names alone: whatever drill they are of, it is over, or holds the lock.
remove_drill() {
  docker rm -fv "$DRILL" "$DRILL-files" "$DRILL-psql" "$DRILL-db" "$DRILL-builder" >/dev/null 2>&1 || true
  docker volume rm -f "${DRILL}_db" "${DRILL}_odoo" "${DRILL}_code_drill" "${DRILL}_python_drill" >/dev/null
  rm -rf "$ROOT/drill"
}
