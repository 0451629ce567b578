# Deploys: code is fetched and checked in the builder, the update runs on a copy of the database first, and then in the instance's own
# containers, which see the code in read-only volumes. codes/CODE has of each code its "addons" (folders in the container), "environment"
# and "modules" (version and hash by name), and of a deploy in progress "progress": fetched, keeping, kept, updating, updated, undoing, settled.
# The fact "code" is the code that the ERP runs with. Root on the machine opens no file of the code.

BUILDER=erp-builder # a network with a way out, and none to private addresses or to the machine: see firewall.sh
CODE_BYTES_MAX=$((1024 * 1024 * 1024))
CODE_SECONDS=600 PACKAGES_SECONDS=1200 # of the builder
CODE_MOUNT=/mnt/extra-addons PYTHON_MOUNT=/mnt/python
NOBODY=65534
HASHES=hosting.module_hashes # the database's own parameter: what its modules were last updated with, which so comes with every backup

name_code() {
  CODE=$(parameter CODE_ID '[a-z0-9_]{1,50}')
  CODE_HOME=$HERE/codes/$CODE OLD=old_$CODE NEW=new_$CODE
}

progress() { fact "codes/$CODE/progress"; }
set_progress() { set_fact "codes/$CODE/progress" "$1"; }

code_volume() { echo "${PROJECT}_code_$1"; }     # CODE
python_volume() { echo "${PROJECT}_python_$1"; } # CODE

# What the ERP's containers have of a code: sets CODE_OPTIONS for Docker, and CODE_ARGUMENTS for the ERP.
use_code() { # CODE
  local place=$HERE/codes/$1 project=${CODE_PROJECT:-$PROJECT}
  CODE_OPTIONS=() CODE_ARGUMENTS=()
  if [[ -z $1 || ! -e $place/environment ]]; then return; fi
  CODE_OPTIONS=(-v "${project}_code_$1:$CODE_MOUNT:ro" -v "${project}_python_$1:$PYTHON_MOUNT:ro" --env-file "$place/environment"
    -e "PYTHONPATH=$PYTHON_MOUNT")
  if [[ -s $place/addons ]]; then CODE_ARGUMENTS=("--addons-path=$(<"$place/addons")"); fi # not with packages alone
}

# The same for the compose file. A value there may refer to others by a dollar.
code_in_compose() {
  local code place
  code=$(fact code)
  place=$HERE/codes/$code
  CODE_VOLUMES='' CODE_NAMES='' CODE_VARIABLES='' CODE_FLAG=''
  if [[ -z $code || ! -e $place/environment ]]; then return; fi
  CODE_VOLUMES=", \"code:$CODE_MOUNT:ro\", \"python:$PYTHON_MOUNT:ro\""
  CODE_NAMES="  code: { name: $(code_volume "$code"), external: true }
  python: { name: $(python_volume "$code"), external: true }"
  CODE_VARIABLES=", PYTHONPATH: $PYTHON_MOUNT$(jq -r 'map(", \(.name | tojson): \(.value | gsub("\\$"; "$$") | tojson)") | add // ""' "$place/variables")"
  if [[ -s $place/addons ]]; then CODE_FLAG=" --addons-path=$(<"$place/addons")"; fi
}

# The machine's own git, in a container of the ERP's image: no image has one. It sees the machine's programs and nothing else of it.
prepare_builder() {
  if ! command -v git >/dev/null || ! command -v ssh >/dev/null; then install_packages git openssh-client; fi
  (
    flock 4 # two jobs may be the first ones at once
    docker network inspect "$BUILDER" >/dev/null 2>&1 || docker network create --driver bridge "$BUILDER" >/dev/null
  ) 4>"$ROOT/locks/firewall"
  refresh_firewall
  BUILDING=$PROJECT-builder
  if [[ ${P[HOLD]:-} == no ]]; then BUILDING=$PROJECT-check; fi
  docker rm -fv "$BUILDING" >/dev/null 2>&1 || true # of a job that was killed
}

builder() { # SECONDS OPTION… -- COMMAND…: passes on stdin
  local seconds=$1 options=()
  shift
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  timeout --foreground -k 10 "$seconds" docker run --rm -i --name "$BUILDING" --log-driver none --network "$BUILDER" \
    --cap-drop ALL --security-opt no-new-privileges --read-only --memory 1g --memory-swap 1g --pids-limit 128 --oom-score-adj 1000 \
    --ulimit "fsize=$CODE_BYTES_MAX" --user "$NOBODY:$NOBODY" -e HOME=/tmp "${options[@]}" "$@"
}

git_builder() { # OPTION… -- ARGUMENT…: see code.py
  local options=()
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  builder "$CODE_SECONDS" --tmpfs /tmp:size=16m,mode=1777 -v /usr:/usr:ro -v /etc/ssl:/etc/ssl:ro -v /etc/ld.so.cache:/etc/ld.so.cache:ro \
    "${options[@]}" --entrypoint /usr/bin/python3 -- "$IMAGE" -I -c "$(code_program)" "$@" | bounded_answer >"$JOB/work/code" ||
    broken "The code could not be read"
  jq -e . "$JOB/work/code" >/dev/null 2>&1 || broken "The code could not be read"
  remember_hosts
}

bounded_answer() {
  head -c 4000000
  cat >/dev/null
}

# The repositories with their credentials, which are on no command line, and the keys that hosts presented before.
code_request() {
  local known=$HERE/known_hosts
  touch "$known"
  jq -c --rawfile known "$known" '{ repositories: ., known_hosts: ($known | split("\n") | map(select(. != ""))) }' <<<"${P[REPOSITORIES]:-[]}"
}

remember_hosts() {
  jq -r '.known_hosts[:20][] | strings' "$JOB/work/code" | tr -cd 'A-Za-z0-9+/=.,:@[]_ \n-' | head -c 20000 >>"$HERE/known_hosts"
}

job_resolve_code() {
  require_installed
  prepare_builder
  code_request | git_builder -- resolve
  jq -c '{ commits }' "$JOB/work/code" | answer
}

job_fetch_code() {
  local keep
  require_installed
  name_code
  keep=$(parameter KEEP 'yes|no')
  require_room "$(docker_root)" "$CODE_BYTES_MAX" "The code"
  prepare_builder
  if [[ $keep == no ]]; then
    check_code
    return
  fi
  forget_code "$CODE"
  mkdir -p "$CODE_HOME"
  if copy_code; then
    jq -c '{ subjects: [], problems: [], modules: (to_entries | map({ name: .key } + .value)) }' "$CODE_HOME/modules" >"$JOB/work/code"
  else
    forget_code "$CODE" # the part that was copied
    mkdir -p "$CODE_HOME"
    fetch_into "$(code_volume "$CODE")"
    keep_code
  fi
  keep_environment
  ensure_database_server
  known_to_database
  jq -c --slurpfile hashes "$JOB/work/hashes" --rawfile installed "$JOB/work/installed" --arg named "${P[NAMED]:-}" '
    ($installed | split("\n") | map(select(. != ""))) as $all
    | { subjects, problems,
        modules: [.modules[] | { name, version, changed: ($hashes[0][.name] != .hash) }],
        installed: (([.modules[].name] + ($named | split(" "))) as $wanted | $all | map(select(. as $name | $wanted | index([$name])))) }' \
    "$JOB/work/code" | answer
  set_progress fetched
}

# What was fetched, for the ERP's options, and for whoever asks which modules it has.
keep_code() {
  # What the builder says comes from whoever could take it over.
  jq -c '[.modules[] | select((.name | test("^[A-Za-z][A-Za-z0-9_]{0,63}$")) and (.hash | test("^[0-9a-f]{40,64}$"))
    and (.version | test("^[0-9A-Za-z.~+-]{1,60}$"))) | { key: .name, value: { version, hash } }] | from_entries' "$JOB/work/code" >"$CODE_HOME/modules"
  jq -r --arg mount "$CODE_MOUNT" '[.folders[] | select(test("^[0-9]{1,2}-[a-z0-9-]{1,40}$")) | "\($mount)/\(.)"] | join(",")' "$JOB/work/code" |
    tr -d '\n' >"$CODE_HOME/addons"
  if [[ $(fact edition) == enterprise ]]; then printf ',/mnt/enterprise' >>"$CODE_HOME/addons"; fi
  sed -i 's/^,//' "$CODE_HOME/addons"
}

keep_environment() {
  printf %s "${P[ENVIRONMENT]:-[]}" >"$CODE_HOME/variables"
  jq -r '.[] | "\(.name)=\(.value)"' "$CODE_HOME/variables" >"$CODE_HOME/environment"
}

# Nothing stays, and the database is not asked: other work on the instance goes on.
check_code() {
  end_check "$PROJECT" # of a machine that lost its power
  fetch_into "${PROJECT}_check"
  jq -c '{ subjects, problems, modules: [.modules[] | { name, version, changed: true }], installed: [] }' "$JOB/work/code" | answer
}

# What a repository sends may fill the disk, and goes on after its job is killed: no job that holds the instance ends it.
end_check() { # PROJECT
  docker rm -fv "$1-check" >/dev/null 2>&1 || true
  docker volume rm -f "$1_check" >/dev/null 2>&1 || true
}

fetch_into() { # VOLUME
  make_volume "$1"
  code_request | git_builder -v "$1:/code" -- fetch "$VERSION" /code
}

# Which modules the database has, and what they were last updated with.
known_to_database() {
  sql "$DATABASE" <<'SQL' | head -c 1000000 >"$JOB/work/installed"
set statement_timeout = '10s';
select left(name, 100) from ir_module_module where state in ('installed', 'to upgrade', 'to remove') order by name limit 6000
SQL
  sql "$DATABASE" <<<"select value from ir_config_parameter where key = '$HASHES'" | head -c 2000000 >"$JOB/work/hashes"
  jq -e 'type == "object"' "$JOB/work/hashes" >/dev/null 2>&1 || echo '{}' >"$JOB/work/hashes"
}

# Belongs to the instance, with which it is removed. Its owner is who writes into it.
make_volume() { # NAME
  docker volume create --label "com.docker.compose.project=$PROJECT" "$1" >/dev/null
  docker run --rm --network none --cap-drop ALL --cap-add CHOWN --user 0:0 -v "$1:/code" --entrypoint chown "$IMAGE" "$NOBODY:$NOBODY" /code
}

# The newest images of the same versions of the ERP and of PostgreSQL, or the one that the ERP had with an earlier code. They are used from the next
# step on, and the instance keeps its own until its modules are updated.
job_pull_images() {
  require_installed
  name_code
  require_fetched
  if [[ -n ${P[IMAGE]:-} ]]; then bring_image_back "$(parameter IMAGE 'sha256:[0-9a-f]{64}')"; else pull_newest; fi
  jq -cn --arg id "$(fact "codes/$CODE/image")" --arg created "$(docker image inspect -f '{{.Created}}' "$(fact "codes/$CODE/image")")" \
    --arg before "$(fact image)" --arg database "$(fact "codes/$CODE/db_image")" --arg database_before "$(fact db_image)" \
    '{ id: $id, created_at: $created, previous_id: $before, changed: ($id != $before or $database != $database_before) }' | answer
}

# Its name is that of a newer one by now, so it is named by its id, or else by its digest. The database server keeps its own.
bring_image_back() { # ID
  local pulled
  set_fact "codes/$CODE/db_image" "$(fact db_image)"
  set_fact "codes/$CODE/image" "$1" # so that nobody removes it meanwhile
  if docker image inspect "$1" >/dev/null 2>&1; then return; fi
  pulled=odoo@$(parameter DIGEST 'sha256:[0-9a-f]{64}')
  pull "$pulled"
  docker image inspect "$1" >/dev/null 2>&1 || broken "The image $pulled could not be pulled: the registry has no such image, or shows it only to others"
}

# Under the lock, no other job can remove them before they are noted.
pull_newest() {
  local database_image
  database_image=$(postgres_image)
  pull "$database_image" "odoo:$VERSION"
  (
    flock 5
    set_fact "codes/$CODE/db_image" "$(newer_database_image "$database_image")"
    set_fact "codes/$CODE/image" "$(docker image inspect -f '{{.Id}}' "odoo:$VERSION")"
  ) 5>"$ROOT/locks/images"
}

# Another major version cannot read the database's files.
newer_database_image() { # IMAGE: its id, or the one that the instance has
  local present
  present=$(fact db_image)
  if [[ -z $(postgres_major "$1") || $(postgres_major "$1") != $(postgres_major "$present") ]]; then
    echo "$present"
  else
    docker image inspect -f '{{.Id}}' "$1"
  fi
}

postgres_major() { docker image inspect -f '{{range .Config.Env}}{{println .}}{{end}}' "$1" | sed -n 's/^PG_MAJOR=//p'; } # IMAGE

# The image that the deploy brings, if it brings one.
use_new_image() {
  local new
  new=$(fact "codes/$CODE/image")
  IMAGE=${new:-$IMAGE}
}

# The ERP is stopped. The database server starts anew, if it gets another image of the same major version.
switch_images() { # IMAGE DATABASE-IMAGE
  if [[ -z $(fact "codes/$CODE/image") ]]; then return; fi # the deploy brings none
  set_fact db_image "$2"
  set_fact image "$1"
  IMAGE=$1
  configure
  compose up -d db
}

# Building from source runs code: it reaches neither the modules nor the disk, only a scratch of a fixed size.
job_install_packages() {
  require_installed
  name_code
  require_fetched
  use_new_image
  fill_python "$(python_volume "$CODE")"
  if [[ -z ${P[PACKAGES]:-} ]]; then
    echo '{"packages":[]}' | answer
    return
  fi
  pip_builder -v "$(python_volume "$CODE"):/python:ro" --entrypoint python3 -- "$IMAGE" -I -m pip --no-input --disable-pip-version-check \
    list --path /python --format=freeze </dev/null >"$JOB/work/packages" ||
    fail BUILD_FAILED "The Python packages could not be installed"
  head -c 100000 "$JOB/work/packages" | jq -Rsc '{ packages: (split("\n") | map(select(test("^[A-Za-z0-9._-]+==[^ ]+$")))) }' | answer
}

fill_python() { # VOLUME
  local options=(--only-binary=:all:)
  docker volume rm -f "$1" >/dev/null
  make_volume "$1"
  if [[ -z ${P[PACKAGES]:-} ]]; then return; fi
  if [[ $(parameter SOURCE_BUILDS 'yes|no') == yes ]]; then options=(); fi
  prepare_builder
  { build_packages "${options[@]}" <<<"${P[PACKAGES]}" 2>&1 >&3 3>&- | bounded >&2; } 3>&1 | head -c "$CODE_BYTES_MAX" | unpack_into "$1" ||
    fail BUILD_FAILED "The Python packages could not be installed"
}

# From the requirements on stdin to an archive on stdout.
build_packages() { # OPTION…: of pip
  # shellcheck disable=SC2016 # the shell in the container expands it
  pip_builder --entrypoint sh -- "$IMAGE" -c 'python3 -I -m pip --no-input --disable-pip-version-check install --target /tmp/python --no-compile \
    --no-cache-dir -r /dev/stdin "$@" >&2 && tar -c -C /tmp/python .' sh "$@"
}

pip_builder() { # OPTION… -- COMMAND…
  builder "$PACKAGES_SECONDS" --tmpfs /tmp:size=512m,nr_inodes=200k,mode=1777,exec "$@"
}

unpack_into() { # VOLUME
  docker run --rm -i --network none --log-driver none --cap-drop ALL --security-opt no-new-privileges --read-only --memory 256m --pids-limit 16 \
    --user "$NOBODY:$NOBODY" -v "$1:/python" --entrypoint tar "$IMAGE" -x --no-same-owner -C /python
}

# For an instance that nobody uses yet, whose database another ERP had.
job_bring_code() {
  require_installed
  name_code
  if [[ $(fact code) == "$CODE" ]]; then return; fi # its end was not seen
  bring_code
  set_fact code "$CODE"
}

# From where this machine has it, or else from the repositories.
bring_code() {
  require_room "$(docker_root)" "$CODE_BYTES_MAX" "The code"
  forget_code "$CODE"
  mkdir -p "$CODE_HOME"
  if ! copy_code; then
    forget_code "$CODE" # the part that was copied
    mkdir -p "$CODE_HOME"
    prepare_builder
    fetch_into "$(code_volume "$CODE")"
    require_no_problem
    keep_code
    fill_python "$(python_volume "$CODE")"
  fi
  keep_environment
}

# That instance's own jobs may remove it meanwhile, which fails the copy: Docker would make a volume anew that is gone.
copy_code() {
  local instance=${P[FROM_INSTANCE]:-} code=${P[FROM_CODE]:-} part from to
  [[ $instance =~ ^[a-z0-9_]{1,60}$ && $code =~ ^[a-z0-9_]{1,50}$ && -e $INSTANCES/$instance/codes/$code/environment ]] || return 1
  for part in code python; do
    from=erp-${instance}_${part}_$code to=${PROJECT}_${part}_$CODE
    docker volume inspect "$from" >/dev/null 2>&1 || return 1
    docker volume rm -f "$to" >/dev/null || return 1
    make_volume "$to" || return 1
    docker run --rm --network none --cap-drop ALL --security-opt no-new-privileges --read-only --user "$NOBODY:$NOBODY" --log-driver none \
      -v "$from:/from:ro" -v "$to:/to" --entrypoint cp "$IMAGE" -R /from/. /to/ || return 1
  done
  cp "$INSTANCES/$instance/codes/$code/addons" "$INSTANCES/$instance/codes/$code/modules" "$CODE_HOME/" || return 1
  [[ -e $INSTANCES/$instance/codes/$code/environment ]]
}

# What is said of it comes from whoever could take over the builder.
require_no_problem() {
  local code
  code=$(jq -r '.problems[0].code // ""' "$JOB/work/code")
  if [[ -z $code ]]; then return; fi
  [[ $code =~ ^CODE_(UNREACHABLE|INVALID)$ ]] || broken "The code could not be read"
  fail "$code" "$(jq -r '.problems[0].problem | strings' "$JOB/work/code" | tr -cd '[:print:]' | head -c 400)"
}

require_fetched() { [[ -n $(progress) ]] || broken "The code was not fetched"; }

# What the ERP updates and installs, as its options; nothing if there is nothing to do.
read_update() {
  UPDATE=$(parameter UPDATE '[A-Za-z0-9_,]*')
  INSTALL=$(parameter INSTALL '[A-Za-z0-9_,]*')
  UPDATES=(${UPDATE:+-u "$UPDATE"} ${INSTALL:+-i "$INSTALL"})
  MODULES_NAMED=$(head -c 300 <<<"${UPDATE:+$UPDATE${INSTALL:+,}}$INSTALL" | sed 's/,/, /g')
}

ONCE=(--stop-after-init --no-http --workers=0 --max-cron-threads=0)

# The drill's containers and its place, which the operation holds. The copy has no files, no network and no scheduled jobs.
job_rehearse_code() {
  local image dump=$JOB/work/dump dumping loading started edition database_image
  require_installed
  name_code
  require_fetched
  use_new_image
  image=$IMAGE
  read_update
  require_database "$DATABASE"
  edition=$(fact edition)
  database_image=$(fact "codes/$CODE/db_image")
  database_image=${database_image:-$(docker inspect -f '{{.Image}}' "$PROJECT-db")}
  exec 6>"$ROOT/locks/drill"
  flock 6
  touch "$JOB/drill"
  remove_drill
  require_memory_to_rehearse
  require_room_to_rehearse
  CODE_PROJECT=$PROJECT use_code "$CODE"
  (
    enter_drill "$image" "$database_image" "$edition"
    start_drill_database
  )
  make_pipe "$dump"
  client pg_dump --out "$dump" --no-owner --no-privileges --no-comments -f /out "$DATABASE" &
  dumping=$!
  (
    reenter_drill "$image"
    load_dump "$dump"
  ) &
  loading=$!
  wait_for_ends "$dump" "$dumping" "$loading"
  wait "$dumping" || broken "The database could not be copied for the rehearsal"
  wait "$loading" || broken "The database could not be copied for the rehearsal"
  started=$(date +%s)
  (
    reenter_drill "$image"
    rehearse "$edition"
  )
  echo "{\"duration_seconds\":$(($(date +%s) - started))}" | answer
  remove_drill
}

require_memory_to_rehearse() {
  local needed=$((DRILL_DB_MB + DRILL_ERP_MB)) free
  free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
  ((free >= needed)) ||
    broken "A rehearsal needs $needed MB of memory, but the server has $free MB free. To deploy all the same, set rehearse to false"
}

# A copy of the database, and what its update adds.
require_room_to_rehearse() {
  local needed free
  needed=$((2 * $(database_bytes) + RESERVE_BYTES))
  free=$(least_free "$(docker_root)")
  ((free >= needed)) ||
    broken "A rehearsal needs $(megabytes "$needed") MB on the disk, but the server has $(megabytes "$free") MB free. To deploy all the same, set rehearse to false"
}

enter_drill() { # IMAGE DATABASE-IMAGE EDITION: of the instance
  local user
  mkdir -p "$ROOT/drill"
  reenter_drill "$1"
  set_fact image "$1" # so that nobody removes it meanwhile
  set_fact db_image "$2"
  set_fact edition "$3"
  printf 'POSTGRES_USER=postgres\nPOSTGRES_DB=postgres\nPOSTGRES_PASSWORD=%s\nPOSTGRES_INITDB_ARGS=--auth-host=scram-sha-256\n' "$(random)" \
    >"$HERE/database.env"
  odoo_conf | sed 's/^db_host = .*/db_host = 127.0.0.1/; s/^max_cron_threads = .*/max_cron_threads = 0/' >"$HERE/odoo.conf"
  user=$(docker run --rm --network none --entrypoint id "$IMAGE" -u)
  chown "$user" "$HERE/odoo.conf"
  chmod 400 "$HERE/odoo.conf"
}

reenter_drill() { # IMAGE
  HERE=$ROOT/drill PROJECT=$DRILL DATABASE=drill NEW=drill IMAGE=$1 NETWORK=container:$DRILL-db DB_HOST=127.0.0.1 LOADER=''
}

rehearse() { # EDITION
  local enterprise=() status=0
  if [[ $1 == enterprise ]]; then enterprise=(-v "$ROOT/enterprise/$VERSION:/mnt/enterprise:ro"); fi
  if ((${#UPDATES[@]} == 0)); then return; fi
  docker run --name "$DRILL" --log-driver none --memory "${DRILL_ERP_MB}m" --memory-swap "${DRILL_ERP_MB}m" --cpu-shares 64 \
    --pids-limit 512 --oom-score-adj 1000 --cap-drop ALL --security-opt no-new-privileges --network "$NETWORK" --read-only \
    --tmpfs "/tmp:size=${TMP_MB}m,mode=1777" -v "${DRILL}_odoo:/var/lib/odoo" -v "$HERE/odoo.conf:/etc/odoo/odoo.conf:ro" \
    "${enterprise[@]}" "${CODE_OPTIONS[@]}" --entrypoint odoo "$IMAGE" -c /etc/odoo/odoo.conf -d drill "${UPDATES[@]}" "${ONCE[@]}" \
    "${CODE_ARGUMENTS[@]}" </dev/null 2>&1 | bounded || status=$?
  require_alive "$DRILL-db" "The throwaway database server"
  if ran_out_of_memory "$DRILL"; then broken "The throwaway ERP ran out of memory. To deploy all the same, set rehearse to false"; fi
  if ((status != 0)) || ! has_updated drill; then
    fail REHEARSAL_FAILED "The update failed on a copy of the data, so the ERP was left as it is. Modules: $MODULES_NAMED"
  fi
}

# The ERP leaves out modules that it does not find, and ends well.
has_updated() { # DATABASE
  local wanted count
  wanted=$(tr ',' '\n' <<<"$UPDATE,$INSTALL" | sed '/^$/d' | sort -u | wc -l)
  count=$(sql "$1" <<<"select (select count(*) from ir_module_module where state = 'installed' and name = any(string_to_array('$UPDATE,$INSTALL', ',')))
    - (select count(*) from ir_module_module where state in ('to install', 'to upgrade'))" | sed 's/^-.*/0/' | number)
  ((count == wanted))
}

# From here on nobody uses the ERP. Its files are linked: the ERP replaces none, it only adds and removes them.
job_keep_data() {
  require_installed
  name_code
  require_fetched
  case $(progress) in
    kept | updating | updated) return ;;
  esac
  pause_erp
  require_database "$DATABASE"
  require_room "$(docker_root)" "$(database_bytes)" "A copy of the database"
  set_progress keeping
  drop_database "$OLD"
  copy_database "$DATABASE" "$OLD"
  files keep "$DATABASE" "$OLD" </dev/null || files_failed "The ERP's files cannot be read"
  set_fact "codes/$CODE/before" "$(fact code)"
  set_fact "codes/$CODE/before_image" "$(fact image)"
  set_fact "codes/$CODE/before_db_image" "$(fact db_image)"
  set_progress kept
}

copy_database() { # FROM TO
  end_connections "$1" "$2"
  sql postgres <<<"create database \"$2\" template \"$1\""
  sql postgres <<<"alter database \"$2\" allow_connections false"
}

job_update_modules() {
  local status=0
  require_installed
  name_code
  read_update
  case $(progress) in
    updated) return ;;
    kept) ;;
    updating) begin_anew ;; # it was killed: what it had done may be a half
    *) broken "The data was not kept" ;;
  esac
  set_progress updating
  set_fact code "$CODE"
  switch_images "$(fact "codes/$CODE/image")" "$(fact "codes/$CODE/db_image")"
  ensure_database_server
  reset_role
  known_to_database
  if ((${#UPDATES[@]} > 0)); then
    odoo -c /etc/odoo/odoo.conf -d "$DATABASE" "${UPDATES[@]}" "${ONCE[@]}" </dev/null || status=$?
    if ((status != 0)) || ! has_updated "$DATABASE"; then
      fail UPDATE_FAILED "The update failed, so the code and the data were put back. Modules: $MODULES_NAMED"
    fi
  fi
  note_hashes
  set_progress updated
}

# Modules that were installed, and not named for this update, were last updated with what they were before. With the base, the ERP updates all.
note_hashes() {
  local hashes
  # Only names and hexadecimal digits: keep_code. The ERP's own code may have changed what the database had.
  hashes=$(jq -c --slurpfile known "$JOB/work/hashes" --rawfile installed "$JOB/work/installed" --arg named "$UPDATE,$INSTALL" '
    ($named | split(",")) as $updated
    | (if $updated | index("base") then [] else ($installed | split("\n")) - $updated end) as $left
    | (reduce $left[] as $name ({}; .[$name] = true)) as $left
    | with_entries(.value = if $left[.key] then $known[0][.key] else .value.hash end)
    | map_values(select(type == "string" and test("^[0-9a-f]{40,64}$")))' "$CODE_HOME/modules")
  sql "$DATABASE" <<<"insert into ir_config_parameter (key, value) values ('$HASHES', '$hashes') on conflict (key) do update set value = excluded.value"
}

# What a backup has brought back is not what was kept: an update of it that was killed is undone.
begin_anew() {
  if ((${#UPDATES[@]} == 0)); then return; fi # nothing of the data was in progress
  [[ ! -e $HERE/restores/${CODE}_data ]] || fail UPDATE_FAILED "The update failed, so the code and the data were put back. Modules: $MODULES_NAMED"
  renew_data
}

# The data as it was kept, once more.
renew_data() {
  ensure_database_server
  quiet_erp
  has_database "$OLD" || broken "The database from before the deploy is not there any more"
  drop_database "$DATABASE"
  copy_database "$OLD" "$DATABASE"
  sql postgres <<<"alter database \"$DATABASE\" owner to odoo"
  sql postgres <<<"alter database \"$DATABASE\" allow_connections true"
  files keep "$OLD" "$DATABASE" </dev/null || files_failed "The ERP's files cannot be read"
}

job_start_code() {
  local downtime=null
  require_installed
  name_code
  [[ $(progress) == updated ]] || broken "The update is not done"
  set_fact wanted running
  start_erp
  if [[ -e $HERE/stopped_at ]]; then
    within 120 answers_page /web/login || true # whether it is well is found out by who asked for this
    downtime=$(($(date +%s) - $(fact stopped_at)))
    downtime=$((downtime > 0 ? downtime : 0)) # the clock may have been set back meanwhile
  fi
  jq -cn --argjson downtime "$downtime" --arg id "$IMAGE" --arg digest "$(digest_of "$IMAGE")" \
    '{ downtime_seconds: $downtime, image: { id: $id, digest: (if $digest == "" then null else $digest end) } }' | answer
}

# By which the registry has it, which stays when its name goes to a newer one.
digest_of() { # IMAGE
  docker image inspect -f '{{range .RepoDigests}}{{println .}}{{end}}' "$1" | grep -aoEm1 'sha256:[0-9a-f]{64}$' || true
}

# The code of now and the one before stay, with their images.
job_settle_code() {
  local before place
  require_installed
  name_code
  before=$(fact "codes/$CODE/before")
  set_progress settled
  ensure_database_server
  sync # what replaces it must be on the disk first
  drop_database "$OLD"
  remove_files "$OLD"
  if [[ -n $before && -d $HERE/codes/$before && -e $CODE_HOME/before_image ]]; then mv "$CODE_HOME/before_image" "$HERE/codes/$before/last_image"; fi
  rm -f "$HERE/stopped_at" "$CODE_HOME/before_image" "$CODE_HOME/before_db_image"
  for place in "$HERE"/codes/*; do
    if [[ -d $place && ${place##*/} != "$CODE" && ${place##*/} != "$before" ]]; then forget_code "${place##*/}"; fi
  done
}

job_undo_code() {
  local state start
  if [[ ! -d $HERE ]]; then return; fi
  name_code
  start=$(parameter START 'yes|no')
  state=$(progress)
  if [[ -z $state ]]; then
    forget_code "$CODE"
    return
  fi
  undo_deploy "$state"
  if [[ -e $HERE/stopped_at ]]; then start=yes; fi
  if [[ $state != fetched ]]; then
    if [[ $start == yes ]]; then
      set_fact wanted running
      start_erp
      within 120 answers_page /web/login || true # from then on the instance counts as running
    else
      set_fact wanted stopped
    fi
  fi
  rm -f "$HERE/stopped_at"
  forget_code "$CODE"
}

# Puts back the data and the code; what was not changed yet stays.
undo_deploy() { # PROGRESS
  case $1 in
    keeping)
      ensure_database_server
      drop_database "$OLD"
      remove_files "$OLD"
      ;;
    kept | updating | updated | undoing)
      set_progress undoing
      quiet_erp
      switch_images "$(fact "codes/$CODE/before_image")" "$(fact "codes/$CODE/before_db_image")"
      ensure_database_server
      swap_back
      set_fact code "$(fact "codes/$CODE/before")"
      forget_new
      ;;
  esac
}

forget_code() { # CODE
  local volume
  rm -f "$HERE/codes/${1:?}/environment" # before its volumes: see copy_code
  for volume in "$(code_volume "$1")" "$(python_volume "$1")"; do docker volume rm -f "$volume" >/dev/null 2>&1 || true; done
  rm -rf "$HERE/codes/${1:?}"
}

# A machine that died in the middle of a deploy may come back after the deploy was abandoned: see settle_restores. What was updated
# stays, and what it replaced goes with the next deploy.
settle_deploys() {
  local place operation=${JOB##*/} state
  for place in "$HERE"/codes/*/progress; do
    CODE=${place%/progress} CODE=${CODE##*/}
    if [[ ! -e $place || $CODE == "${operation%%-*}" || $CODE == "${P[CODE_ID]:-}" ]]; then continue; fi
    CODE_HOME=$HERE/codes/$CODE OLD=old_$CODE NEW=new_$CODE
    state=$(progress)
    case $state in
      keeping | kept | updating | undoing)
        undo_deploy "$state"
        forget_code "$CODE"
        rm -f "$HERE/stopped_at"
        if [[ $(fact wanted) == running ]]; then start_erp; fi
        ;;
      fetched) forget_code "$CODE" ;;
      updated | settled)
        if [[ $(<"$JOB/kind") != fetch_code ]]; then continue; fi
        ensure_database_server
        if forget "$OLD"; then rm -f "$place"; fi
        ;;
    esac
  done
}
