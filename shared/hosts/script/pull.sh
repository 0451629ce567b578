# Images from their registry, or from the operator's mirror of it.

PULL_SECONDS=540 # of one try, in which it can be killed with its job (--foreground); the layers that are complete stay for the next one

# Pulls the newest of each, or keeps the present one if that fails.
pull() { # IMAGE…
  local image
  for image in "$@"; do
    pull_once "$image" || docker image inspect "$image" >/dev/null 2>&1 || pull_again "$image"
  done
}

# For an update: with the present one, it would seem to have been done.
renew() { pull_once "$1" || pull_again "$1"; } # IMAGE

# What may pass is tried four times.
pull_again() { # IMAGE: which could not be pulled
  for _ in 2 3 4; do
    if [[ $PASSES == no ]]; then break; fi
    sleep 10
    if pull_once "$1"; then return; fi
  done
  broken "The image $1 could not be pulled: $WHY"
}

pull_once() { # IMAGE: sets WHY it failed, and whether that PASSES
  local source said=$JOB/work/pull status=0 config=()
  source=$(source_of "$1")
  if [[ -n ${P[REGISTRY_USERNAME]:-} ]]; then
    write_credentials "$JOB/work/docker"
    config=(--config "$JOB/work/docker")
  fi
  timeout --foreground -k 10 "$PULL_SECONDS" docker "${config[@]}" pull -q "$source" >/dev/null 2>"$said" || status=$?
  if ((status == 0)); then
    # A digest is no name that an image can be given.
    if [[ $source != "$1" && $1 != *@* ]]; then docker tag "$source" "$1" && docker image rm "$source" >/dev/null; fi
    return
  fi
  explain_pull "$status" "$(grep -v '^$' "$said" | tail -n 1 | tr -cd '[:print:]' | head -c 300)"
  return 1
}

# Images that name their registry come from there.
source_of() { # IMAGE
  local mirror=${P[REGISTRY_MIRROR]:-} registry=${1%%/*}
  if [[ -z $mirror || ($1 == */* && ($registry == *[.:]* || $registry == localhost)) ]]; then
    echo "$1"
  elif [[ $1 == */* ]]; then
    echo "$mirror/$1"
  else
    echo "$mirror/library/$1"
  fi
}

# For the mirror, or else for Docker Hub. Only root enters the job's folder, and it goes with the job.
write_credentials() { # FOLDER
  local registry=${P[REGISTRY_MIRROR]:-https://index.docker.io/v1/}
  if [[ -n ${P[REGISTRY_MIRROR]:-} ]]; then registry=${registry%%/*}; fi
  mkdir -p "$1"
  printf '%s:%s' "${P[REGISTRY_USERNAME]}" "${P[REGISTRY_PASSWORD]}" | encoded |
    jq -R --arg registry "$registry" '{ auths: { ($registry): { auth: . } } }' >"$1/config.json"
}

explain_pull() { # STATUS LINE: of timeout, and the last of Docker
  local registry="the registry"
  if [[ -n ${P[REGISTRY_MIRROR]:-} ]]; then registry="the registry mirror"; fi
  PASSES=yes
  case ${2,,} in
    *"no space left"*) PASSES=no WHY="the server's disk is full" ;;
    *toomanyrequests* | *"too many requests"* | *"rate limit"*)
      WHY="$registry limits how much this server may pull. Try again in some hours; the operator of the service can set a mirror or credentials" ;;
    *"no matching manifest"* | *"does not match the specified platform"*) PASSES=no WHY="$registry does not have it for this server's processor" ;;
    *x509* | *"tls: "*certificate* | *"http response to https client"*) PASSES=no WHY="the certificate of $registry is not valid" ;;
    *"no such host"* | *"network is unreachable"* | *"no route to host"* | *"connection refused"* | *"connection reset"* | \
      *"server misbehaving"* | *"temporary failure in name resolution"* | *": eof") WHY="the server cannot reach $registry" ;;
    *timeout* | *"timed out"* | *"deadline exceeded"* | *"request canceled"*) WHY="$registry does not respond" ;;
    *"manifest unknown"* | *"repository does not exist"* | *"not found"* | *"name unknown"*)
      PASSES=no WHY="$registry has no such image, or shows it only to others" ;;
    *unauthorized* | *"authentication required"* | *"no basic auth"* | *"incorrect username"* | *denied* | *forbidden*)
      PASSES=no WHY="$registry rejects the service's credentials, or requires some" ;;
    '') WHY="$registry does not respond" ;;
    *) WHY="Docker reports: $2" ;;
  esac
  if (($1 == 124 || $1 == 137)); then WHY="$registry sent too little in $((PULL_SECONDS / 60)) minutes"; fi
}
