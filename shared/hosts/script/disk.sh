# The disk that all instances share: what is reserved of it, what each instance uses, and which one is paused when it is almost
# full. Tenants write what is measured here, and some are hostile: files with holes, links, millions of files, files that are
# deleted and still open. Everything is counted in allocated blocks, without following links, and as far as that gets within its
# time and memory. For each instance, "disk" has its bytes, when they were measured, how many milliseconds that took, and the
# bytes of the time before; "inodes" has their number, in the same places; "used" has the bytes of its database and of its files;
# "quota" has what it may use, and "paused" why it is paused.

DISK=$ROOT/disk
DISK_LOW=5 DISK_WELL=6  # percent that tenants can still get: below the one an instance is paused, from the other on it runs again
DISK_FULL=2             # percent: from here on, those that are not paused get the spare room
MEASURE_SECONDS=20      # what one instance may take of a minute
MEASURE_TOGETHER_MS=3000
MEASURE_PAUSE=20        # times as long as its measurement took, an instance is not measured again

# Before an ERP starts, also for machines that were prepared by an earlier version of the script.
prepare_disk() {
  mkdir -p "$DISK"
  if [[ -z $SYSTEM ]]; then # tests share the disk of the computer that they run on
    # In shells of their own: what fails here must not keep an ERP from its start.
    (reserve_blocks) || echo "No blocks could be reserved on the disk"
    (hold_quota) || { rm -f "$JOB/failure" && echo "The kernel could not be told the ERP's quota"; }
  fi
  watch_disk_regularly
}

# On ext4, the last blocks are for root and one more user: here the one that PostgreSQL runs as, which no code of a tenant is.
# Both settings take effect on a mounted file system. Whoever gave them to another user keeps that.
reserve_blocks() {
  local place device type user blocks reserved unit present wanted
  place=$(docker_root)
  read -r device type < <(findmnt -nro SOURCE,FSTYPE -T "$place")
  if [[ $type != ext4 || ! -b $device ]]; then return 0; fi
  user=$(database_user) || return 1
  read -r blocks reserved unit present < <(tune2fs -l "$device" | awk -F: '
    /^Block count/ { blocks = $2 } /^Reserved block count/ { reserved = $2 } /^Block size/ { unit = $2 }
    /^Reserved blocks uid/ { user = $2 + 0 } END { if (unit > 0) print blocks + 0, reserved + 0, unit + 0, user }') || return 1
  if ((present != 0 && present != user)); then return 0; fi
  wanted=$((blocks / 20))
  wanted=$((wanted * unit > RESERVED_BYTES_MAX ? RESERVED_BYTES_MAX / unit : wanted))
  wanted=$((wanted > reserved ? wanted : reserved))
  if ((wanted != reserved || present != user)); then tune2fs -r "$wanted" -u "$user" "$device" >/dev/null || return 1; fi
  place=$(findmnt -nro TARGET -T "$place")
  if [[ $(findmnt -nro OPTIONS -T "$place") != *resuid="$user"* ]]; then mount -o "remount,resuid=$user" "$place"; fi
}
RESERVED_BYTES_MAX=$((8 * 1024 ** 3))

database_user() {
  local user
  user=$(fact database_user)
  if [[ -z $user ]]; then
    user=$(docker run --rm --network none --entrypoint id "$(fact db_image)" -u postgres)
    [[ $user =~ ^[1-9][0-9]{0,8}$ ]] || return 1
    set_fact database_user "$user"
  fi
  echo "$user"
}

# Where the file system has quotas of projects (XFS or ext4, mounted with prjquota), the kernel holds what an instance may use.
# The files get their project at each start, while the ERP does not run: its code could put a link in the way, and give files of
# its own to another project.
hold_quota() {
  local place quota project volume
  place=$(docker_root)
  quota=$(fact quota)
  if [[ ! $(findmnt -nro OPTIONS -T "$place") =~ (^|,)p(rj)?quota(,|$) ]] || is_running "$PROJECT"; then return 0; fi
  command -v setquota >/dev/null || install_packages quota
  project=$(project_number)
  for volume in "${PROJECT}_odoo" "${PROJECT}_db"; do
    give_to_project "$project" "$(docker volume inspect -f '{{.Mountpoint}}' "$volume")"
  done
  limit_project "$project" "${quota:-0}" "$place"
}

# What is created later gets the project of its folder. Only folders pass theirs on, and the kernel refuses that for files.
give_to_project() { # PROJECT DIRECTORY
  timeout 60 find "$2" -xdev -type d -exec chattr -p "$1" +P {} +
  timeout 60 find "$2" -xdev -type f -exec chattr -p "$1" {} +
}

limit_project() { # PROJECT BYTES DIRECTORY: 0 is no limit
  local inodes=0
  if (($2 > 0)); then inodes=$(most_inodes "$2"); fi
  setquota -P "$1" 0 $(($2 / 1024)) 0 "$inodes" "$(findmnt -nro TARGET -T "$3")"
}

# How many inodes an instance may use with a quota: twice as many as ext4 has for so many bytes. Files of an ERP are larger, on
# average; what it has from the start is small files.
most_inodes() { # BYTES
  echo $(($1 / 8192 > 50000 ? $1 / 8192 : 50000))
}

# The number is not used again, so its limit would only be left over.
forget_project() { # INSTANCE, whose volumes are gone
  local project
  project=$(cat "$INSTANCES/$1/project" 2>/dev/null) || return 0
  limit_project "$project" 0 "$(known_place)" || true
}

# Above those that administrators use by hand.
project_number() {
  if [[ -z $(fact project) ]]; then
    (
      flock 4
      number=$(($(cat "$DISK/last_project" 2>/dev/null || echo 1000000) + 1))
      echo "$number" >"$DISK/last_project"
      set_fact project "$number"
    ) 4>"$DISK/projects"
  fi
  fact project
}

# What changes between jobs: what each instance may use of the disk, a line each (all others may use what there is), domains that
# are no longer redirected, and END.
take_settings() { # INSTANCE BYTES or "ended" DOMAIN, on stdin
  local -A quotas=()
  local id='' bytes here place lines ended=()
  lines=$(cat)
  [[ $'\n'$lines == *$'\n'END ]] || reject "The settings are incomplete"
  while read -r id bytes; do
    if [[ $id == ended && $bytes =~ ^[a-z0-9.-]{1,253}$ ]]; then ended+=("$bytes"); fi
    if [[ $id =~ ^[a-z0-9_]{1,50}$ && $bytes =~ ^[1-9][0-9]{0,15}$ ]]; then quotas[$id]=$bytes; fi
  done <<<"$lines"
  place=$(known_place)
  for here in "$INSTANCES"/*/; do
    if [[ ! -d $here ]]; then continue; fi
    id=$(basename "$here") bytes=${quotas[$(basename "$here")]:-}
    if [[ $(cat "$here/quota" 2>/dev/null) == "$bytes" ]]; then continue; fi
    load "$id"
    if [[ -n $bytes ]]; then set_fact quota "$bytes"; else rm -f "$here/quota"; fi
    if [[ -n $(fact project) ]]; then limit_project "$(fact project)" "${bytes:-0}" "$place" || true; fi
  done
  if ((${#ended[@]} > 0)); then with_proxy end_redirects "${ended[@]}"; fi
  watch_disk # whoever has more room now goes on
}

# Docker may hang, and takes longer than a look at the disk.
known_place() { cat "$DISK/docker_root" 2>/dev/null || echo "$ROOT"; }

# Sets SIZE, FREE and AVAILABLE, in blocks: what there is, what nobody uses, and what of that is not reserved. Sets INODES and
# FREE_INODES, too: both are 0 where the file system has no fixed number of them, such as Btrfs.
look_at_disk() { # DIRECTORY
  read -r BLOCK SIZE FREE AVAILABLE INODES FREE_INODES < <(stat -f -c '%S %b %f %a %c %d' "$1")
}
has_less_than() { lacks_bytes "$1" || lacks_inodes "$1"; } # PERCENT
lacks_bytes() { ((AVAILABLE * 100 < SIZE * $1)); } # PERCENT
lacks_inodes() { ((FREE_INODES * 100 < INODES * $1)); } # PERCENT

# Every five seconds, because a disk is filled in seconds.
watch_disk() {
  local place
  mkdir -p "$DISK"
  exec 3>"$DISK/lock"
  flock -n 3 || return 0
  place=$(known_place)
  look_at_disk "$place"
  if has_less_than "$DISK_LOW"; then
    relieve "$place"
  elif ! has_less_than "$DISK_WELL"; then
    rm -f "$DISK/low"
  fi
  resume_instances
  exec 3>&-
}

# One at a time, and the next one only if the room still shrinks.
relieve() { # DIRECTORY
  local last='' last_inodes=0 worst
  read -r last last_inodes 2>/dev/null <"$DISK/low" || true
  if [[ -n $last ]] && ((FREE * 10 > last * 9 && FREE_INODES * 10 >= last_inodes * 9)); then return; fi
  measure_all_at_once
  worst=''
  if lacks_bytes "$DISK_LOW"; then worst=$(worst_instance disk); fi
  if [[ -z $worst ]] && lacks_inodes "$DISK_LOW"; then worst=$(worst_instance inodes); fi
  if [[ -n $worst ]]; then pause_instance "${worst##* }" "${worst%% *}"; fi
  if has_less_than "$DISK_FULL" && compgen -G "$INSTANCES/*/paused" >/dev/null; then
    rm -f "$1/erp-hosting-spare"
    look_at_disk "$1"
  fi
  echo "$FREE $FREE_INODES" >"$DISK/low"
}

# "quota INSTANCE": the one that is farthest above its quota. If none is, and even what is reserved runs out, "growth INSTANCE":
# the one that grew most.
worst_instance() { # MEASURE: disk, in bytes, or inodes
  local here id quota used before over=0 most=$((SIZE * BLOCK / 100)) by_quota='' by_growth='' full=no
  if [[ $1 == inodes ]]; then
    most=$((INODES / 100))
    if lacks_inodes "$DISK_FULL"; then full=yes; fi
  elif ((FREE * 100 < SIZE * DISK_FULL)); then
    full=yes
  fi
  for here in "$INSTANCES"/*/; do
    if [[ -e $here/paused || $(cat "$here/wanted" 2>/dev/null) != running ]]; then continue; fi
    read -r used _ _ before <"$here/$1" || continue
    id=$(basename "$here") quota=$(cat "$here/quota" 2>/dev/null) || quota=''
    if [[ -n $quota && $1 == inodes ]]; then quota=$(most_inodes "$quota"); fi
    if [[ -n $quota ]] && ((used - quota > over)); then over=$((used - quota)) by_quota="quota $id"; fi
    if ((before > 0 && used - before > most)); then most=$((used - before)) by_growth="growth $id"; fi
  done 2>/dev/null
  if [[ -n $by_quota ]]; then echo "$by_quota"; elif [[ $full == yes ]]; then echo "$by_growth"; fi
}

# Its processes stop where they are. What they have asked their database for would go on, under any name that they give it.
pause_instance() { # INSTANCE REASON
  load "$1"
  set_fact paused "$2"
  if ! timeout 10 docker pause "$PROJECT" >/dev/null 2>&1; then
    rm -f "$HERE/paused"
    return 0
  fi
  timeout 10 docker exec "$PROJECT-db" psql -XqAt -U "$(superuser)" -d postgres -c "select pg_terminate_backend(pid)
    from pg_stat_activity where usename = 'odoo' and state = 'active' and pid <> pg_backend_pid()" >/dev/null 2>&1 || true
}

# There is room again, or the instance is within its quota again: it was raised, or somebody has removed files.
resume_instances() {
  local here quota used inodes
  for here in "$INSTANCES"/*/; do
    if [[ ! -e $here/paused ]]; then continue; fi
    load "$(basename "$here")"
    if (($(stat -c %Y "$here/paused") < $(sed -n 's/^btime //p' /proc/stat))); then # the machine has started again, and the ERP with it
      rm -f "$here/paused" "$DISK/low"
      continue
    fi
    if has_less_than "$DISK_WELL"; then
      quota=$(fact quota)
      read -r used _ <"$here/disk" || continue
      read -r inodes _ 2>/dev/null <"$here/inodes" || inodes=0
      if [[ $(fact paused) != quota ]] || { [[ -n $quota ]] && ((used > quota || inodes > $(most_inodes "$quota"))); }; then continue; fi
    fi
    resume
  done
}

# Also before a job stops or starts the ERP.
resume() {
  if [[ ! -e $HERE/paused ]]; then return 0; fi
  timeout 10 docker unpause "$PROJECT" >/dev/null 2>&1 || true
  rm -f "$HERE/paused"
}

# Each minute, in a small part of the processor's time: those whose last measurement is the oldest first.
measure_disk() {
  local place id began
  mkdir -p "$DISK"
  exec 3>"$DISK/measuring"
  flock -n 3 || return 0
  place=$(docker_root) && [[ -n $place ]] || return 0
  echo "$place" >"$DISK/docker_root.draft" && mv "$DISK/docker_root.draft" "$DISK/docker_root"
  find_places || return 0
  began=$(milliseconds)
  for id in $(by_age); do
    if is_due "$id"; then measure_instance "$id" "$MEASURE_SECONDS" fd; fi
    if (($(milliseconds) - began > MEASURE_TOGETHER_MS)); then break; fi
  done
  keep_spare "$place"
  exec 3>&-
}

milliseconds() { local now=${EPOCHREALTIME//[!0-9]/}; echo $((now / 1000)); }

by_age() {
  local here
  for here in "$INSTANCES"/*/; do
    if [[ -d $here ]]; then echo "$(stat -c %Y "$here/disk" 2>/dev/null || echo 0) $(basename "$here")"; fi
  done | sort -n | cut -d' ' -f2
}

is_due() { # INSTANCE
  local at took
  read -r _ at took _ <"$INSTANCES/$1/disk" || return 0
  (($(date +%s) - at >= took * MEASURE_PAUSE / 1000))
} 2>/dev/null

# Four at a time, so that what they take of the memory has a bound.
measure_all_at_once() {
  local here count=0
  find_places || return 0
  for here in "$INSTANCES"/*/; do
    if [[ ! -d $here ]]; then continue; fi
    measure_instance "$(basename "$here")" 4 fd map_files &
    count=$((count + 1))
    if ((count % 4 == 0)); then wait; fi
  done
  wait
}

# For each container PROJECT|CONTAINER|LAYER|LOG|VOLUME…, for each of their processes CONTAINER PROCESS.
find_places() {
  timeout 10 docker ps -aq --no-trunc --filter label=com.docker.compose.project | timeout 10 xargs -r docker inspect -f '{{
    index .Config.Labels "com.docker.compose.project"}}|{{.Id}}|{{
    with .GraphDriver}}{{with .Data}}{{index . "UpperDir"}}{{end}}{{end}}|{{.LogPath}}{{
    range .Mounts}}{{if eq .Type "volume"}}|{{.Source}}{{end}}{{end}}' >"$DISK/places.$$" || return 1
  mv "$DISK/places.$$" "$DISK/places"
  { grep -soE '[0-9a-f]{64}' /proc/[0-9]*/cgroup || true; } | sed -nE 's|^(/proc/[0-9]+)/cgroup:(.*)|\2 \1|p' |
    sort -u >"$DISK/processes.$$"
  mv "$DISK/processes.$$" "$DISK/processes"
}

# What could be counted in time is the least that it uses. If that is not all, it is taken to use no less than it did before.
measure_instance() { # INSTANCE SECONDS fd|map_files…: where deleted files that are still open are looked for
  local here=$INSTANCES/$1 seconds=$2 project container layer log volumes processes place trees=() open=()
  local before=0 inodes_before=0 began bytes database files inodes partly
  began=$(milliseconds)
  while IFS='|' read -r project container layer log volumes; do
    if [[ $project != "erp-$1" ]]; then continue; fi
    IFS='|' read -ra volumes <<<"$volumes"
    trees+=("${log%/*}" ${layer:+"$layer"} "${volumes[@]}")
    mapfile -t processes < <(sed -n "s/^$container //p" "$DISK/processes")
    for place in "${@:3}"; do open+=("${processes[@]/%//$place}"); done
  done <"$DISK/places"
  if ((${#trees[@]} == 0)); then return 0; fi
  read -r before _ 2>/dev/null <"$here/disk" || true
  read -r inodes_before _ 2>/dev/null <"$here/inodes" || true
  read -r bytes database files inodes partly < <({
    blocks_in "$seconds" "${trees[@]}"
    echo "0 1 0 deleted"
    blocks_of_deleted "$seconds" "${trees[0]}" "${open[@]}"
  } | awk '
    /^partly/ { partly = $1 }
    NF == 4 && $3 == 0 { kind = $4 ~ /_db\/_data$/ ? "database" : $4 ~ /_odoo\/_data$/ ? "files" : "" }
    /^[0-9]/ { blocks += $1 / $2; of[kind] += $1 / $2; inodes += 1 / $2 }
    END { printf "%.0f %.0f %.0f %.0f %s\n", blocks * 512, of["database"] * 512, of["files"] * 512, inodes, partly }')
  if [[ -n $partly ]] && ((bytes < before)); then bytes=$before; fi
  if [[ -n $partly ]] && ((inodes < inodes_before)); then inodes=$inodes_before; fi
  if [[ ! -d $here ]]; then return 0; fi
  echo "$bytes $(date +%s) $(($(milliseconds) - began)) ${before:-0}" >"$here/disk.$$"
  mv "$here/disk.$$" "$here/disk"
  echo "$inodes - - ${inodes_before:-0}" >"$here/inodes.$$"
  mv "$here/inodes.$$" "$here/inodes"
  if [[ -z $partly ]]; then echo "$database $files" >"$here/used.$$" && mv "$here/used.$$" "$here/used"; fi
}

# BLOCKS NAMES: a file counts once, however many names it has. To know which have been counted would take as much memory as a
# tenant likes. Of a directory also its depth, and in which of these it is.
blocks_in() { # SECONDS DIRECTORY…
  within_bounds "$1" find "${@:2}" -xdev -ignore_readdir_race '(' -type d -printf '%b 1 %d %H\n' ')' -o -printf '%b %n\n' || echo partly
}

blocks_of_deleted() { # SECONDS DIRECTORY PLACE…: of the file system that the directory is in
  if (($# == 2)); then return 0; fi
  { within_bounds "$1" find -L "${@:3}" -maxdepth 1 -type f -links 0 -printf '%D %i %b\n' || (($? == 1)) || echo partly; } |
    head -n 200000 | sort -u |
    awk -v device="$(stat -c %d "$2")" '/^partly/ { print } $1 == device { print $3, 1 }'
}

# A folder may have more names than there is memory.
within_bounds() { # SECONDS COMMAND…
  (ulimit -v 65536 && exec nice -n 19 timeout "$@") 2>/dev/null
}

# Room that is given to those that are not paused, once one is. It is taken again only when there is plenty.
keep_spare() { # DIRECTORY
  local file=$1/erp-hosting-spare blocks
  if [[ -e $file ]]; then return 0; fi
  look_at_disk "$1"
  blocks=$((SIZE * DISK_FULL / 100))
  blocks=$((blocks * BLOCK > SPARE_BYTES_MAX ? SPARE_BYTES_MAX / BLOCK : blocks))
  if (((AVAILABLE - blocks) * 10 > SIZE)); then fallocate -l $((blocks * BLOCK)) "$file" || rm -f "$file"; fi
}
SPARE_BYTES_MAX=$((4 * 1024 ** 3))

# One line of JSON for each instance that was measured.
instances_on_disk() {
  local here id used
  for here in "$INSTANCES"/*/; do
    id=$(basename "$here")
    if [[ ! $id =~ ^[a-z0-9_]{1,50}$ ]] || ! read -r used _ <"$here/disk"; then continue; fi
    echo "$id $used $(cat "$here/quota" || echo null) $(cat "$here/image" || echo -) $(cat "$here/paused" || true)"
  done 2>/dev/null | jq -Rcn --rawfile images <(images_in_use) '($images | split("\n") | map(select(. != "") | split(" ") | { (.[0]): .[1] }) | add // {}) as $created
    | [inputs | split(" ") | { instance_id: .[0], used_bytes: (.[1] | tonumber), quota_bytes: (.[2] | fromjson), paused: (.[4] != ""),
      image: (if .[3] == "-" then null else { id: .[3], created_at: $created[.[3]] } end) }]'
}

images_in_use() { # ID CREATED
  cat "$INSTANCES"/*/image 2>/dev/null | grep -aoE 'sha256:[0-9a-f]{64}' | sort -u |
    xargs -r timeout 2 docker image inspect -f '{{.Id}} {{.Created}}' 2>/dev/null || true
}

# By timers, with a small script of their own: bash takes as long for all of this one as for the work.
DISK_FUNCTIONS=(
  load fact set_fact superuser docker_root known_place look_at_disk has_less_than lacks_bytes lacks_inodes most_inodes watch_disk relieve worst_instance pause_instance
  resume_instances resume measure_disk milliseconds by_age is_due measure_all_at_once find_places measure_instance blocks_in
  blocks_of_deleted within_bounds keep_spare
)
DISK_SETTINGS=(
  ROOT INSTANCES DISK DISK_LOW DISK_WELL DISK_FULL MEASURE_SECONDS MEASURE_TOGETHER_MS MEASURE_PAUSE SPARE_BYTES_MAX PATH LC_ALL
)

watch_disk_regularly() {
  local command=$DISK/watch.sh units=/etc/systemd/system
  {
    echo 'set -euo pipefail; umask 077'
    declare -p "${DISK_SETTINGS[@]}"
    declare -f "${DISK_FUNCTIONS[@]}"
    # shellcheck disable=SC2016 # of the command itself
    echo '"$1_disk"'
  } >"$command.draft"
  if cmp -s "$command.draft" "$command"; then return 0; fi
  mv "$command.draft" "$command"
  if [[ -n $SYSTEM || ! -d /run/systemd/system ]]; then return 0; fi
  disk_service "Looks for the room on the disk" watch "$command" '50%' best-effort >"$units/erp-disk-watch.service"
  disk_service "Measures what the ERPs use of the disk" measure "$command" '20%' idle >"$units/erp-disk-measure.service"
  disk_timer 5 1 >"$units/erp-disk-watch.timer"
  disk_timer 60 10 >"$units/erp-disk-measure.timer"
  systemctl daemon-reload
  systemctl enable --now erp-disk-watch.timer erp-disk-measure.timer
}

disk_service() { # DESCRIPTION COMMAND SCRIPT CPU IO
  cat <<UNIT
[Unit]
Description=$1
After=docker.service

[Service]
Type=oneshot
ExecStart=/bin/bash $3 $2
CPUQuota=$4
MemoryMax=384M
IOSchedulingClass=$5
TimeoutStartSec=60
LogLevelMax=notice
UNIT
}

disk_timer() { # SECONDS ACCURACY
  cat <<UNIT
[Timer]
OnBootSec=30
OnUnitInactiveSec=$1
AccuracySec=$2

[Install]
WantedBy=timers.target
UNIT
}
