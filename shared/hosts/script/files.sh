# Work on an ERP's files and on archives. Root on the machine never touches what an ERP's container can write, because it would
# follow its links. A container does it that has those files and nothing else, no network and no privileges. It also reads
# archives, which may come from anyone. Its output is only passed on, or is a line of JSON with single values.

files() { # [--in PIPE] [--out PIPE] COMMAND ARGUMENT…: see files/commands.py
  pass "$@"
  contained "$PROJECT-files" "$IMAGE" "${PASSED[@]}" --mount "type=volume,source=${PROJECT}_odoo,target=/var/lib/odoo" -- "${REST[@]}"
}

remove_files() { files remove "$@" </dev/null || files_failed "The ERP's old files cannot be removed"; } # NAME…

# Works without any files.
list_ends() { # FILE SIZE FROM: see "list" in files/commands.py
  docker rm -fv "erp-list-${JOB##*/}" >/dev/null 2>&1 || true # of this job before it was killed
  pass --in "$1"
  contained "erp-list-${JOB##*/}" "odoo:${P[ERP_VERSION]}" "${PASSED[@]}" --tmpfs /var/lib/odoo -- list "$2" "$3" ${P[OUTSIDE]:+"$FILES_MAX"}
}

# Archives and dumps pass through named pipes, /in and /out in a container: Docker's own streams copy every byte several times.
pass() { # [--in PIPE] [--out PIPE] ARGUMENT…: sets PASSED and REST
  PASSED=()
  while [[ ${1:-} == --in || ${1:-} == --out ]]; do
    PASSED+=(--mount "type=bind,source=$2,target=/${1#--}")
    shift 2
  done
  REST=("$@")
}

# The containers' users may open the pipe; nobody else can enter a job's folder.
make_pipe() { mkfifo -m 666 "$1"; } # PATH

# Waits until the processes at both ends of a pipe have ended. One that ends before it opens the pipe leaves the other waiting for
# that.
wait_for_ends() { # PIPE PID PID
  local pipe=$1
  shift
  while is_child "$1" && is_child "$2"; do sleep 0.1; done
  while is_child "$1" || is_child "$2"; do
    : <>"$pipe"
    sleep 0.1
  done
}

is_child() { kill -0 "$1" 2>/dev/null; }
is_gone() { ! is_child "$1"; }

contained() { # NAME IMAGE OPTION… -- COMMAND…: as the image's own user; a log of it would be a second copy of what passes
  local name=$1 image=$2 options=()
  shift 2
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  shift
  docker run --rm -i --name "$name" --log-driver none --network none --cap-drop ALL --security-opt no-new-privileges --read-only \
    --memory 1g --pids-limit 256 --oom-score-adj 1000 --tmpfs /mnt/extra-addons "${options[@]}" \
    --entrypoint python3 "$image" -I -c "$(files_program)" "$@" 2>"$JOB/work/report"
}

# A value of the last command's report; nothing if it died.
reported() { tail -n 1 "$JOB/work/report" | head -c 1000000 | jq -r "$1 // empty" 2>/dev/null || true; }

reported_number() { # NAME
  reported ".$1 | numbers" | number
}

files_failed() { # SENTENCE: why the last of them failed, or else this
  local why
  why=$(reported '.error | strings')
  if [[ -z $why ]]; then tail -n 5 "$JOB/work/report" >&2; fi
  broken "${why:-$1}"
}

# The output of a database or a container is hostile text, and the shell's arithmetic would run commands in it.
number() {
  local text
  IFS= read -r text || true
  [[ $text =~ ^[0-9]{1,18}$ ]] || broken "A value that should be a number is not one"
  echo "$((10#$text))"
}

# A container may print more than the disk has room for.
bounded() {
  head -c 1000000
  cat >/dev/null
}
