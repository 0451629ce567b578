# The builder: a container that fetches code and packages from outside, with nothing of the machine but its programs.

BUILDER=erp-builder # a network with a way out, and none to private addresses or to the machine: see firewall.sh
CODE_SECONDS=600 PACKAGES_SECONDS=1200

# The machine's own git, in a container of the ERP's image: no image has one. It sees the machine's programs and nothing else of
# it.
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

# Those of which no repository is left, and all of them for whoever trusts new keys. Only for all repositories of the code: a
# check fetches those alone whose hosts have responded.
forget_hosts() {
  local known=$HERE/known_hosts kept=${P[REPOSITORIES]:-[]} hosts
  if [[ ${P[TRUST]:-no} == yes ]]; then kept='[]'; fi
  if [[ ! -s $known ]]; then return; fi
  (
    flock 3
    hosts=$(jq -c '[.[].url | capture("^ssh://[^@/]*@(?<host>[^:/]+)").host | ascii_downcase]' <<<"$kept")
    jq -Rr --argjson hosts "$hosts" '
    select(. != "" and any(split(" ")[0] | split(",")[] | ltrimstr("[") | sub("\\]:[0-9]+$"; ""); . as $host | any($hosts[]; . == $host)))' \
      "$known" >"$known.draft"
    mv "$known.draft" "$known"
  ) 3>"$HERE/known_hosts.lock"
}

remember_hosts() {
  (
    flock 3
    jq -r '.known_hosts[:25][] | strings' "$JOB/work/code" | tr -cd 'A-Za-z0-9+/=.,:@[]_ \n-' | head -c 25000 >>"$HERE/known_hosts"
  ) 3>"$HERE/known_hosts.lock"
}

# Building from source runs code: it reaches neither the modules nor the disk, only a scratch of a fixed size.
job_install_packages() {
  require_installed
  name_code
  require_fetched
  use_new_image
  if ! has_packages; then
    rm -f "$CODE_HOME/packages"
    fill_python "$(python_volume "$CODE")"
    if [[ -n ${P[PACKAGES]:-} ]]; then note_packages; fi
  fi
  { tail -n +2 "$CODE_HOME/packages" 2>/dev/null || true; } | jq -Rsc '{ packages: (split("\n") | map(select(. != ""))) }' | answer
}

# The image that they are for, and what they were resolved to.
note_packages() {
  pip_builder -v "$(python_volume "$CODE"):/python:ro" --entrypoint python3 -- "$IMAGE" -I -m pip --no-input --disable-pip-version-check \
    list --path /python --format=freeze </dev/null >"$JOB/work/packages" ||
    fail BUILD_FAILED "The Python packages could not be installed"
  echo "$IMAGE" >"$CODE_HOME/packages"
  head -c 100000 "$JOB/work/packages" | { grep -aE '^[A-Za-z0-9._-]+==[^ ]+$' || true; } >>"$CODE_HOME/packages"
}

# Copied with earlier code: what was resolved to just these packages then, with the same image. PyPI may lack them by now.
has_packages() { [[ -n ${P[PACKAGES]:-} && $(cat "$CODE_HOME/packages" 2>/dev/null) == "$IMAGE"$'\n'"${P[PACKAGES]}" ]]; }

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
