# Code of the ERP's: it is fetched and checked in the builder (builder.sh), and the ERP's containers see it in read-only volumes.
# codes/CODE has of each code its "addons" (folders in the container), "environment", "modules" (by name the version, the hash
# and the repository's number, which older ones lack) and "packages" (of Python, below the image that they are for), and of a
# deploy in progress "progress": fetched, keeping, kept, updating, updated, undoing, settled. The fact "code" is the code that the
# ERP runs with. Root on the machine opens no file of the code.

CODE_BYTES_MAX=$((1024 * 1024 * 1024))
CODE_MOUNT=/mnt/extra-addons PYTHON_MOUNT=/mnt/python
NOBODY=65534
HASHES=hosting.module_hashes # the database's own parameter: what its modules were last updated with, which so comes with every backup
OF_IMAGE='(image)' # in it, the image; no module has such a name

name_code() {
  CODE=$(parameter CODE_ID '[a-z0-9_]{1,50}')
  name_data_of_code
}

name_data_of_code() { CODE_HOME=$HERE/codes/$CODE OLD=old_$CODE NEW=new_$CODE KEPT=$HERE/codes/$CODE/database.tar.gz; }

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

job_resolve_code() {
  require_installed
  prepare_builder
  forget_hosts
  code_request | git_builder -- resolve
  jq -c '{ commits }' "$JOB/work/code" | answer
}

job_fetch_code() {
  local keep missing
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
  missing=$(missing_modules)
  jq -c --slurpfile hashes "$JOB/work/hashes" --slurpfile installed "$JOB/work/installed" --arg named "${P[NAMED]:-}" \
    --arg ofImage "$OF_IMAGE" --arg image "$(image_hash)" --argjson missing "$missing" '
    $hashes[0] as $hashes | $installed[0] as $installed
    | { subjects, problems, missing: $missing, image_changed: ($hashes[$ofImage] != null and $hashes[$ofImage] != $image),
        modules: [.modules[]
          | { name, version, repository, changed: ($hashes[.name] != .hash), database_version: $installed[.name] }],
        installed: (([.modules[].name] + ($named | split(" "))) as $wanted | $installed | keys | map(select(. as $name | $wanted | index([$name])))) }' \
    "$JOB/work/code" | answer
  set_progress fetched
}

# The installed modules that the ERP would lose: its present code has them, and neither the new code nor the image does. null if
# the image's cannot be listed.
missing_modules() {
  local present listed=/dev/null lost
  present=$HERE/codes/$(fact code)/modules
  if [[ -z $(fact code) || ! -s $present ]]; then present=/dev/null; fi
  lost=$(jq -cn --slurpfile present "$present" --slurpfile new "$CODE_HOME/modules" --slurpfile installed "$JOB/work/installed" '
    $present[0] // {} | keys - ($new[0] | keys) | map(select(in($installed[0])))')
  if [[ $lost != '[]' ]]; then listed=$(listed_modules "$(fact edition)") || { echo null && return; }; fi
  jq -c --slurpfile listed "$listed" --argjson max "$MODULES_MAX" '. - ($listed[0] // {} | keys) | .[:$max]' <<<"$lost"
}

# What was fetched, for the ERP's options, and for whoever asks which modules it has.
keep_code() {
  # What the builder says comes from whoever could take it over.
  jq -c '[.modules[] | select((.name | test("^[A-Za-z][A-Za-z0-9_]{0,63}$")) and (.hash | test("^[0-9a-f]{40,64}$"))
    and (.version | test("^[0-9A-Za-z.~+-]{1,60}$")))
    | { key: .name, value: { version, hash, repository: (.repository | numbers // null) } }] | from_entries' \
    "$JOB/work/code" >"$CODE_HOME/modules"
  jq -r --arg mount "$CODE_MOUNT" '[.folders[] | select(test("^[0-9]{1,2}-[a-z0-9-]{1,40}$")) | "\($mount)/\(.)"] | join(",")' "$JOB/work/code" |
    tr -d '\n' >"$CODE_HOME/addons"
  if [[ $(fact edition) == enterprise ]]; then printf ',/mnt/enterprise' >>"$CODE_HOME/addons"; fi
  sed -i 's/^,//' "$CODE_HOME/addons"
}

keep_environment() {
  printf %s "${P[ENVIRONMENT]:-[]}" >"$CODE_HOME/variables"
  jq -r '.[] | "\(.name)=\(.value)"' "$CODE_HOME/variables" >"$CODE_HOME/environment"
}

# Nothing stays, and the database is not asked: other work on the instance goes on. Modules are compared with the code that the
# ERP has, if the machine knows its modules.
check_code() {
  local code compared present=$JOB/work/present
  code=$(fact code)
  compared="\"$code\""
  cp "$HERE/codes/$code/modules" "$present" 2>/dev/null || true
  if [[ $(jq -r type "$present" 2>/dev/null) != object ]]; then
    if [[ -n $code ]]; then compared=null; fi
    echo '{}' >"$present"
  fi
  end_check "$PROJECT" # of a machine that lost its power
  fetch_into "${PROJECT}_check"
  jq -c --slurpfile present "$present" --argjson compared "$compared" '{ subjects, problems, compared_with: $compared,
    modules: [.modules[] | { name, version, repository, changed: ($present[0][.name].hash != .hash) }], installed: [] }' \
    "$JOB/work/code" | answer
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

# Which modules the database has in which versions, and what they were last updated with.
known_to_database() {
  installed_modules "$DATABASE" |
    jq -Rcn '[inputs | fromjson? | arrays | select(.[0] | strings) | { key: .[0], value: .[1] }] | from_entries' >"$JOB/work/installed"
  sql "$DATABASE" <<<"select value from ir_config_parameter where key = '$HASHES'" | head -c 2000000 >"$JOB/work/hashes"
  jq -e 'type == "object"' "$JOB/work/hashes" >/dev/null 2>&1 || echo '{}' >"$JOB/work/hashes"
}

image_hash() { # of the image that the ERP has, or is about to get
  echo "${IMAGE#sha256:}"
}

# Belongs to the instance, with which it is removed. Its owner is who writes into it.
make_volume() { # NAME
  docker volume create --label "com.docker.compose.project=$PROJECT" "$1" >/dev/null
  docker run --rm --network none --cap-drop ALL --cap-add CHOWN --user 0:0 -v "$1:/code" --entrypoint chown "$IMAGE" "$NOBODY:$NOBODY" /code
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
  cp "$INSTANCES/$instance/codes/$code/packages" "$CODE_HOME/" 2>/dev/null || true # see has_packages
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

forget_code() { # CODE
  local volume
  rm -f "$HERE/codes/${1:?}/environment" # before its volumes: see copy_code
  for volume in "$(code_volume "$1")" "$(python_volume "$1")"; do docker volume rm -f "$volume" >/dev/null 2>&1 || true; done
  rm -rf "$HERE/codes/${1:?}"
}
