#!/usr/bin/env bash
# What the service does on a machine: jobs that start once, continue without it, and report their results.
#
#   begin JOB KIND SECONDS   starts a job with this time limit, its parameters on stdin; reports one that has started
#   status JOB               state=unknown|running|lost|done|failed, and answer= if done, code=, message=, log= if failed
#   end JOB                  kills it, and those whose IDs start with "JOB-"; one that never started cannot start any more
#   health INSTANCE          healthy=yes|no, reason=, unfinished= and modules= if it is
#   logs INSTANCE SOURCE SINCE UNTIL   lines=, or installed=no: logs.sh
#   work_log OPERATION       lines=: what the jobs whose IDs start with "OPERATION-" have logged
#   report SINCE             disk_size_bytes=, disk_free_bytes=, instances=, memory_free_bytes=, needs_reboot=yes|no, figures=
#                            after that time, in seconds, and certificates= if the proxy responds
#   settings                 on stdin: take_settings
#   watch_disk, measure_disk what timers do every five seconds, and each minute
#   renew_proxy              an operator's command: machine.sh
#   probe                    ok
#
# Parameters are NAME=BASE64, one per line, END= the last. Texts (answer, message, log, reason, unfinished, modules, certificates,
# instances) are in base64. A job that died without a result (killed, machine restarted) is lost, and starts again at the next
# begin: every kind of job may be killed anywhere and run again. One that failed because Docker stopped is lost as well, and the
# next one waits for Docker. An undo has a job for each try, "JOB-try2", which ends the earlier tries. Passwords come by stdin,
# are stored in files of root's, and are never in `ps`.
#
# Below /var/lib/erp-hosting:
#   jobs/JOB/       kind, deadline, parameters (until it ends), alive (locked while it runs), pid, log, result; archive.zip
#   instances/ID/   compose.yaml, odoo.conf, database.env; a file for each fact: version, edition, database, domain, image and
#                   db_image (ids), db_before (of an update in progress), workers, wanted (running or stopped), initialised,
#                   archived_uuid, snapshot, stopped_at, served; buffer/nginx.conf; restores/ID: the progress of a restore;
#                   new_ID.oid and old_ID.oid: its databases, whatever their names are
#                   codes/CODE: code of a deploy, and its progress; code: the one that the ERP runs with: code.sh
#   disk/           what is known about the disk: disk.sh; the program that timers run
#   buffers/        a file system for each instance, in a file: what its buffering proxy stores on the disk
#   open_networks   which private networks, and mail servers, the ERPs reach
#   drill/          the settings of a restore drill, while it runs
#   modules/        which modules an image of the ERP has, by its id: modules.sh
#   archives/       what was found out about backups, by their SHA-256, for a day
#   caddy/          the proxy in front of all instances, a file for each site, and the line of watch.sh that it serves
#   watch/          the programs that a timer runs each minute, and their files: watch.sh, sample.pl
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

ROOT=${ERP_HOSTING_ROOT:-/var/lib/erp-hosting}
SYSTEM=${ERP_HOSTING_SYSTEM:-} # in front of /etc, /root and /run, for tests
JOBS=$ROOT/jobs INSTANCES=$ROOT/instances ARCHIVES=$ROOT/archives CADDY=$ROOT/caddy BUFFERS=$ROOT/buffers
NGINX=nginx:1.28
EDGE=erp-edge   # the proxy's own network; with each instance it shares one that nobody else is on
PROBE_PORT=8079 # where the proxy serves each site without a certificate, inside its own container alone
DOCKER_SECONDS=180 # a restart of the machine's Docker, or an update of it, is over by then
# The room that must stay free: a database whose disk is full stops, and may not start again.
RESERVE_BYTES=$((256 * 1024 * 1024))
# So does one whose disk has no free inodes. Unpacking may take up to 30,000 of them a second, and is stopped a second later.
RESERVE_INODES=50000
PART_BYTES_MIN=${ERP_HOSTING_PART_BYTES:-$((64 * 1024 * 1024))} # less for tests
PARTS_MAX=9000 # the store takes 10,000
PIECE_BYTES=${ERP_HOSTING_PIECE_BYTES:-$((32 * 1024 * 1024))} # of an archive that is read; two are on the disk at a time

declare -A P=() # the job's parameters

reject() {
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

begin() {
  local id=$1 kind=$2 seconds=$3 job=$JOBS/$1 parameters left
  parameters=$(cat)
  [[ $'\n'$parameters == *$'\n'END= ]] || reject "The parameters are incomplete"
  declare -F "job_$kind" >/dev/null || reject "Unknown kind of job: $kind"
  clean_up
  mkdir -p "$job"
  exec 8>"$job/gate" 9>"$job/alive"
  flock 8
  end_earlier_tries "$job" # one after another, if the same try is requested twice at once
  expire "$job"
  if flock -n 9 && [[ ! -s $job/result ]]; then # in this order: it may end in between
    [[ -s $job/deadline ]] || echo $(($(date +%s) + seconds)) >"$job/deadline"
    left=$(($(<"$job/deadline") - $(date +%s)))
    echo "$kind" >"$job/kind"
    echo "$parameters" >"$job/parameters"
    # It inherits the lock on "alive", and so do its children: as long as one of them lives, the job does.
    setsid timeout --kill-after=10 "$((left > 0 ? left : 1))" bash "$0" run "$id" 8>&- </dev/null >>"$job/log" 2>&1 &
    echo $! >"$job/pid"
    if [[ $kind =~ ^($GROWING)$ ]]; then setsid bash "$0" guard "$id" 8>&- 9>&- </dev/null >/dev/null 2>&1 & fi
  fi
  exec 8>&- 9>&-
  tell "$job"
}

# Only the newest try of an undo works, however late an earlier one is requested; the folders of earlier ones are removed.
end_earlier_tries() { # JOB
  local number=${1##*-try} other
  [[ $1 =~ -try[0-9]+$ ]] || return 0
  for other in "${1%-try*}"-try*; do
    if [[ ! -d $other || $other == "$1" ]]; then continue; fi
    ((${other##*-try} < number)) || reject "Another try has started since"
    stop_job "$other" HOST_JOB_FAILED "Another try has started"
    rm -rf "$other"
  done
}

# Removes what nobody needs any more. An archive that a restore may still need is younger than a day. What another job removes at
# the same time is no reason to fail this one.
clean_up() {
  mkdir -p "$JOBS" "$ARCHIVES" "$INSTANCES" "$ROOT/locks"
  {
    find "$JOBS" -mindepth 1 -maxdepth 1 -mtime +2 -exec rm -rf {} + || true
    find "$ARCHIVES" -type f -mtime +0 -delete || true
    find "$ROOT" -maxdepth 1 -name 'script-*.sh' -mtime +30 ! -samefile "$0" -delete || true
  } 2>/dev/null
}

status() {
  expire "$JOBS/$1"
  tell "$JOBS/$1"
}

tell() {
  if is_alive "$1"; then # asked first, because a job still lives when it has written its result
    echo state=running
  elif [[ -s $1/result ]]; then
    cat "$1/result"
  elif [[ -e $1/kind ]]; then
    echo state=lost
  else
    echo state=unknown
  fi
}

is_alive() { [[ -e $1/alive ]] && ! flock -n "$1/alive" true; }
is_dead() { ! is_alive "$1"; }

# A job past its deadline was killed without a result, or outlived whatever should have killed it.
expire() {
  [[ -s $1/deadline && ! -s $1/result ]] || return 0
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
    stop_job "$job" HOST_JOB_FAILED "The job was ended before it finished"
    exec 8>&-
  done
  tell "$JOBS/$1"
}

# Jobs that fill the disk, because their data is unusual or someone else fills it meanwhile: stops them
# before the databases of all instances stop.
UNPACKING='build_restore|restore_archive|drill_archive|import_archive|bring_code|fetch_code|install_packages|rehearse_code|keep_data'
GROWING="make_archive|upload_parts|verify_archive|update_modules|$UNPACKING"
guard() {
  local job=$JOBS/$1 docker='' inodes=0 room=free left
  if [[ $(<"$job/kind") =~ ^($UNPACKING)$ ]]; then inodes=$RESERVE_INODES room=avail; fi
  while is_alive "$job"; do
    docker=${docker:-$(docker_root 2>/dev/null)} || true
    left=$(what_is_short "$room" "$inodes" "$JOBS" ${docker:+"$docker"})
    if [[ -n $left ]]; then
      exec 8>"$job/gate"
      flock 8
      touch "$job/full_disk"
      stop_job "$job" HOST_JOB_FAILED "The work was stopped before the server's disk was full: it has $left free" KILL
      return
    fi
    sleep 0.5
  done
}

# What is left on a disk that is almost full; nothing if none is. File systems without a fixed number of inodes, such as Btrfs,
# report 0 in all; a small one may never have as many as are to stay free.
what_is_short() { # free|avail INODES DIRECTORY…: the room that counts, with what is reserved or without; INODES are to stay free
  local columns=avail,itotal,iavail
  if [[ $1 == free ]]; then columns=size,itotal,iavail,used; fi
  df --output="$columns" -B1 "${@:3}" | awk -v bytes=$((RESERVE_BYTES / 2)) -v inodes="$2" '
    NR > 1 && $1 - $4 < bytes { left = int(($1 - $4 + 1048575) / 1048576) " MB" }
    NR > 1 && $2 > 0 && $3 < inodes && $3 < $2 / 10 { left = $3 " inodes" }
    END { print left }'
}

least_free() { df --output=avail -B1 "$@" | tail -n +2 | sort -n | head -n 1; } # DIRECTORY…

stop_job() { # JOB CODE MESSAGE [KILL: at once]
  local job=$1 known=''
  if [[ -s $job/result ]]; then
    within 20 is_dead "$job" || kill_tree "$job" TERM
    return
  fi
  if [[ ! -e $job/full_disk ]]; then known=$(secrets_of_job "$job"); fi # else the log is not sent, and the disk is filling
  fail_job "$1" "$2" "$3" "$known" # before it dies, so that nobody finds it lost
  kill_tree "$job" "${4:-TERM}"
  rm -rf "$job/parameters" "$job/work" "$job/archive.zip"
  if [[ -e $job/drill ]]; then remove_drill; fi
  if [[ -s $job/looks_at ]]; then end_check "$(<"$job/looks_at")"; fi
  if [[ -s $job/instance ]]; then
    load "$(<"$job/instance")"
    sweep
    leave_as_wanted
  fi
}

kill_tree() { # JOB TERM|KILL
  if is_dead "$1"; then return; fi
  local group
  group=$(<"$1/pid")
  if [[ $2 == TERM ]]; then
    kill -TERM -- "-$group" 2>/dev/null || true
    within 10 is_dead "$1" && return
  fi
  kill -KILL -- "-$group" 2>/dev/null || true
  within 20 is_dead "$1" || reject "The job could not be killed"
}

# What programs say about a full disk says nothing more. Secrets go before the log is cut: a part of one could not be found.
fail_job() { # JOB CODE MESSAGE SECRETS
  local log=''
  if [[ ! -e $1/full_disk ]]; then
    log=$(tail -n 40 "$1/log" 2>/dev/null | bounded_log ^ | work_without_secrets "$4" | tail -c 8192 | encoded) || log=''
  fi
  conclude "$1" state=failed "code=$2" "message=$(printf %s "$3" | encoded)" "log=$log"
}

# An empty result is none: the machine lost its power before it was on the disk.
conclude() { # JOB LINE…: the first result stands
  local job=$1 draft=$1/result.$BASHPID
  shift
  printf '%s\n' "$@" >"$draft"
  sync "$draft" || true
  if [[ -e $job/result && ! -s $job/result ]]; then rm -f "$job/result"; fi
  ln -T "$draft" "$job/result" 2>/dev/null || true
  rm -f "$draft"
}

run() {
  JOB=$JOBS/$1
  local line
  exec > >(exec 9>&- && shortened >>"$JOB/log") 2>&1
  LOG=$!
  while read -r line; do P[${line%%=*}]=$(base64 -d <<<"${line#*=}"); done <"$JOB/parameters"
  rm -rf "$JOB/work" "$JOB/answer" "$JOB/failure"
  mkdir "$JOB/work"
  trap 'finish $?' EXIT
  trap 'trap - EXIT; exit 143' TERM INT HUP # killed is not failed
  if [[ ${P[HOLD]:-} == no ]]; then
    look_at_instance
  else
    if [[ -n ${P[INSTANCE_ID]:-} ]]; then hold_instance; fi
    # The one does it once the machine is known to be nobody else's, the other takes it away.
    if [[ ! $(<"$JOB/kind") =~ ^(prepare|retire)_host$ ]]; then keep_watch; fi
  fi
  "job_$(<"$JOB/kind")"
}

# Tenants' databases write parts of a job's log: its beginning is kept, and its end.
shortened() {
  stdbuf -o0 head -c 1000000
  tail -c 100000
}

finish() {
  local code=HOST_JOB_FAILED message="The work on the machine stopped; the last lines of its log say why" full='' known=''
  trap - EXIT
  set +e
  if (($1 != 0)); then full=$(full_disk) known=$(secrets_of_job "$JOB"); fi # the job's parameters are removed below
  if [[ -n ${ID:-} ]]; then leave_as_wanted; fi
  if [[ -e $JOB/drill ]]; then remove_drill; fi
  if [[ -s $JOB/looks_at ]]; then end_check "$(<"$JOB/looks_at")"; fi
  rm -rf "$JOB/parameters" "$JOB/work"
  if (($1 != 0)) && docker_went_away; then return; fi # without a result it is lost, and begun again
  if (($1 == 0)); then
    conclude "$JOB" state=done "answer=$(cat "$JOB/answer" 2>/dev/null || printf null | encoded)"
  else
    rm -f "$JOB/archive.zip"
    if [[ -e $JOB/again ]]; then
      rm "$JOB/again"
      return
    fi
    if [[ -s $JOB/failure ]]; then { read -r code && read -r message; } <"$JOB/failure"; fi
    exec >/dev/null 2>&1
    within 5 is_gone "$LOG" # its last lines say why
    if [[ $code == HOST_JOB_FAILED && -n $full ]]; then
      touch "$JOB/full_disk"
      message=$full
    fi
    fail_job "$JOB" "$code" "$message" "$known"
  fi
}

# How programs report a lack of room, whichever job they work for, and what of it is said to people. Shared memory is no disk.
LACK_OF_ROOM=(
  'disk quota exceeded|EDQUOT' "The ERP has used up its disk quota. Raise the quota or remove files, then try again"
  'no space left|ENOSPC|enough free space|failure writing output to destination' "The server's disk is full. Free space on it, then try again"
)
full_disk() {
  local said line
  said=$(tail -q -c 20000 "$JOB/log" "$JOB/failure" "$JOB/work/report" "$JOB/work/said" 2>/dev/null | tr -d '\0' | grep -av 'shared memory') || true
  for ((line = 0; line < ${#LACK_OF_ROOM[@]}; line += 2)); do
    if grep -qaiE "${LACK_OF_ROOM[line]}" <<<"$said"; then
      if ((line > 0)) && is_out_of_inodes; then
        echo "The server's disk has no inodes left for more files. Remove files from it, then try again"
        return
      fi
      echo "${LACK_OF_ROOM[line + 1]}"
      return
    fi
  done
}

is_out_of_inodes() { df --output=itotal,iavail "$JOB" "$(known_place)" | awk 'NR > 1 && $2 * 100 < $1 { out = 1 } END { exit !out }'; }

# Docker may be down for a moment; containers keep running meanwhile.
require_docker() {
  DOCKER=
  within "$DOCKER_SECONDS" docker_answers || broken "Docker does not respond on the machine"
  DOCKER=$(dockers)
}

docker_answers() { timeout 10 docker info >/dev/null 2>&1; }
dockers() { echo "running: $(pgrep -x dockerd | paste -sd' ')"; }

# Since it responded to this job, that is: a job that waited for it in vain has failed.
docker_went_away() { [[ -n ${DOCKER:-} ]] && { [[ $(dockers) != "$DOCKER" ]] || ! docker_answers; }; }

fail() { # CODE SENTENCE
  printf '%s\n' "$1" "$2" >"$JOB/failure"
  exit 1
}

broken() { fail HOST_JOB_FAILED "$1"; }

# The credentials that signed a URL may expire before the URL does. Without a result the job is lost, and so starts again with new
# URLs, twice at most.
url_rejected() { # SENTENCE
  local times
  times=$(($(cat "$JOB/refused" 2>/dev/null || echo 0) + 1))
  echo "$times" >"$JOB/refused"
  ((times <= 2)) || fail STORAGE_ERROR "$1"
  touch "$JOB/again"
  exit 1
}

answer() { encoded >"$JOB/answer"; }

# Checks the format of everything that goes into paths, SQL and configuration.
parameter() { # NAME PATTERN
  [[ ${P[$1]:-} =~ ^($2)$ ]] || broken "The parameter $1 is missing or invalid"
  printf %s "${P[$1]}"
}
