# Backups: pack the archive and send it. Archives in the store are read as a stream and never stored on the machine.

# Their names must fit into the memory of the container that packs and unpacks them.
FILES_MAX=1500000

# First links the files, and goes on linking what comes until the dump has begun; then dumps, then adds what came since: whatever
# the dump names is in the archive, even if it was deleted meanwhile. Writes nothing but the archive itself.
job_make_archive() {
  local archive=$JOB/archive.zip bytes count
  require_installed
  require_database "$DATABASE"
  rm -f "$archive"
  set_fact snapshot yes
  files snapshot "$DATABASE" </dev/null || files_failed "The ERP's files cannot be read"
  count=$(reported_number files)
  ((count <= FILES_MAX)) || broken "The ERP has $count files, but a backup takes $FILES_MAX at most"
  bytes=$(($(database_bytes) + $(reported_number bytes)))
  require_room "$JOB" "$bytes" "A backup of the ERP" free
  # Allocated by root, who may use what is reserved: the container that packs may not.
  if (($(least_free "$JOB") < bytes + RESERVE_BYTES)); then fallocate -l "$bytes" "$archive" || true; fi
  pack "$archive" $((2 * bytes / PARTS_MAX > PART_BYTES_MIN ? 2 * bytes / PARTS_MAX : PART_BYTES_MIN))
  rm -f "$HERE/snapshot"
  tail -n 1 "$JOB/work/report" | jq -c '{ size_bytes, sha256, part_bytes, parts, missing_files, listed_files, skipped_files, skipped_paths }' | answer
}

pack() { # ARCHIVE PART-BYTES
  local dumping packing dump=$JOB/work/dump snapshot
  make_pipe "$dump"
  manifest >"$JOB/work/manifest"
  touch "$1"
  chmod 666 "$1" # in the container it is not root's; its folder is
  rm -f "$JOB/work/report"
  manifest_with_rows | files --in "$dump" --out "$1" pack "$DATABASE" "$2" &
  packing=$!
  within 60 is_linking_or_ended "$packing" || true # its own start fails the backup
  if ! open_snapshot; then
    end_packing "$packing"
    broken "The database does not give a snapshot"
  fi
  snapshot=$(head -n 1 "$JOB/work/snapshot")
  count_at "$snapshot" 6>&- &
  client pg_dump --out "$dump" --snapshot "$snapshot" --no-owner --no-privileges -f /out "$DATABASE" 6>&- &
  dumping=$!
  wait_for_ends "$dump" "$dumping" "$packing"
  exec 6>&-
  wait "$packing" || files_failed "The archive could not be written"
  wait "$dumping" || broken "The database could not be dumped"
  chmod 600 "$1"
}

# A transaction that holds a snapshot of the database, in which the dump and the counts see the same rows. It ends with its input.
# It locks the tables first, as pg_dump would: one that is removed before the dump has begun would end it. LOCK takes no snapshot,
# and must not wait with one: in a snapshot from before a TRUNCATE or a rewriting ALTER TABLE that it waited for, the table would
# be empty.
open_snapshot() {
  local asks=$JOB/work/asks holding
  rm -f "$asks"
  mkfifo "$asks"
  for _ in 1 2 3; do
    sql "$DATABASE" -v held=yes <"$asks" >"$JOB/work/snapshot" &
    holding=$!
    exec 6>"$asks"
    cat >&6 <<SQL
select statement from (
  select 1 as place, 'begin isolation level repeatable read read only' as statement
  union all select 2, format('lock table only %I.%I in access share mode', n.nspname, c.relname) $DUMPED_TABLES
) as statements order by place, statement
\gexec
select pg_export_snapshot();
SQL
    within 60 has_snapshot_or_ended "$holding" || break
    if has_snapshot; then return; fi
    exec 6>&-
  done
  return 1
}

is_linking_or_ended() { grep -qs '^{"linking":' "$JOB/work/report" || ! is_child "$1"; } # PID

# Without a snapshot there is nothing to pack. What it waits for would keep this job alive.
end_packing() { # PID
  : >"$JOB/work/rows"
  docker rm -fv "$PROJECT-files" >/dev/null 2>&1 || true
  wait "$1" || true
}

has_snapshot_or_ended() { has_snapshot || ! is_child "$1"; }
has_snapshot() { [[ $(head -n 1 "$JOB/work/snapshot") =~ ^[0-9A-F]+-[0-9A-F]+-[0-9]+$ ]]; }

# Tables of extensions are not in a dump.
DUMPED_TABLES="from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and c.relpersistence <> 't' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')"

# Beside the dump. Without them the archive is as good; only a drill knows less.
count_at() { # SNAPSHOT
  local rows=$JOB/work/rows
  if ! { count_rows "$DATABASE" <<<"begin isolation level repeatable read read only; set transaction snapshot '$1';" |
    head -c 1000000 >"$rows.draft"; }; then : >"$rows.draft"; fi
  mv "$rows.draft" "$rows"
}

# How many rows each table has, a line of JSON for each; nothing of a database with very many tables.
count_rows() { # DATABASE [PSQL OPTION…]: the statements that begin the transaction on stdin
  {
    cat
    cat <<SQL
set local row_security = off;
select format('select json_build_array(%L, count(*)) from only %I.%I', n.nspname || '.' || c.relname, n.nspname, c.relname) $DUMPED_TABLES
    and (select count(*) from pg_class where relkind = 'r') <= 10000
order by 1
\gexec
SQL
  } | sql "$@"
}

# Passed on once the rows are counted: the packing reads it last.
manifest_with_rows() {
  until [[ -e $JOB/work/rows ]]; do sleep 0.1; done
  jq -c --slurpfile rows "$JOB/work/rows" '. + if $rows == [] then {} else { rows: ($rows | map({ (.[0]): .[1] }) | add) } end' \
    "$JOB/work/manifest" || cat "$JOB/work/manifest"
}

# Left by a backup that was killed.
forget_snapshot() {
  if [[ ! -e $HERE/snapshot ]]; then return; fi
  if files remove .snapshot </dev/null; then rm -f "$HERE/snapshot"; fi # else the next job tries again
}

database_bytes() { sql postgres <<<"select pg_database_size('$DATABASE')" | number; }

# One line, as the ERP's own tools write it. The packing adds its release and the missing files.
manifest() {
  local server
  server=$(sql postgres <<<"show server_version_num" | number)
  sql "$DATABASE" <<<"select coalesce(json_object_agg(name, latest_version), '{}') from (
      select left(name, 100) as name, left(latest_version, 100) as latest_version from ir_module_module where state = 'installed' limit 5000
    ) as modules" |
    head -c 2000000 | jq -c --arg name "$DATABASE" --arg major "$VERSION" --arg server "$((server / 10000)).0" --argjson code "$(code_in_manifest)" '{
      odoo_dump: "1", db_name: $name, version_info: (($major | split(".") | map(tonumber)) + [0, "final", 0, ""]),
      major_version: $major, pg_version: $server, modules: .
    } + $code'
}

# What the ERP has besides its image, with a hash of each module.
code_in_manifest() {
  local modules
  modules=$HERE/codes/$(fact code)/modules
  if [[ ! -s $modules ]]; then modules=/dev/null; fi
  jq -cn --argjson code "${P[CODE]:-null}" --slurpfile modules "$modules" \
    'if $code == null then {} else { code: ($code + { modules: ($modules[0] // {} | map_values(.hash)) }) } end'
}

job_upload_parts() {
  local archive number url checksum bytes seconds through=0
  archive=$JOBS/$(parameter ARCHIVE_JOB '[A-Za-z0-9_-]+')/archive.zip
  bytes=$(parameter PART_BYTES '[0-9]+')
  seconds=$(parameter SECONDS '[0-9]+')
  [[ -s $archive ]] || broken "The archive is no longer on the server"
  require_room "$JOB" "$bytes" "Sending a backup" free
  while read -r number url checksum; do
    if ((SECONDS >= seconds)); then break; fi # the addresses are about to expire: what is left gets new ones
    dd if="$archive" of="$JOB/work/part" bs=1M iflag=skip_bytes,count_bytes skip=$(((number - 1) * bytes)) count="$bytes" status=none
    printf 'url = "%s"\nheader = "x-amz-checksum-sha256: %s"\n' "$url" "$checksum" |
      curl --config - --fail-with-body -sS --retry 4 --retry-all-errors --retry-delay 3 --connect-timeout 20 --speed-limit 1000 --speed-time 60 \
        -T "$JOB/work/part" -o "$JOB/work/reply" -w '%{http_code}' >"$JOB/work/status" || {
      if has_expired "$JOB/work/reply"; then url_rejected "The backup storage rejected the upload URLs"; fi
      fail STORAGE_ERROR "The archive could not be sent to the backup storage"
    }
    through=$number
  done <<<"${P[PARTS]}"
  echo "{\"through\":$through}" | answer
}

# S3 calls credentials that have expired 403, and those of a session 400.
has_expired() { # REPLY…
  case $(<"$JOB/work/status") in
    403) true ;;
    400) grep -qE '<Code>(ExpiredToken|InvalidToken)<' "$@" ;;
    *) false ;;
  esac
}

job_forget() {
  rm -f "$JOBS/$(parameter JOB '[A-Za-z0-9_-]+')/archive.zip"
}

# Reads the archive's listing, which is at its end: the restore needs its sizes before it begins. The whole archive is read once,
# by the restore, next to the current data: what that builds counts only if the checksum was right.
job_verify_archive() {
  local version known status=0
  version=$(parameter ERP_VERSION '[0-9]+\.[0-9]+')
  known=$ARCHIVES/$(parameter SHA256 '[0-9a-f]{64}').json
  require_docker
  docker image inspect "odoo:$version" >/dev/null 2>&1 || pull "odoo:$version"
  list_archive || status=$?
  if ((status == 3)); then
    with_archive read_through # its checksum tells more; if that is right, the machine may have made an error
    status=0
    list_archive || status=$?
  fi
  ((status == 0)) || unusable "$status" "The backup's archive could not be read"
  tail -n 1 "$JOB/work/report" | jq -c '{ dump_bytes, file_bytes, entries }' >"$JOB/work/inspected"
  mv "$JOB/work/inspected" "$known"
}

# The end is fetched in growing parts, until the whole listing is in it: it seldom needs more than the second.
list_archive() {
  local size from next status=0 ends=$JOB/work/ends
  size=$(parameter SIZE_BYTES '[0-9]+')
  next=$((size - (size / 50 < END_BYTES_MAX ? size / 50 : END_BYTES_MAX) - HEAD_BYTES))
  while true; do
    from=$((next > HEAD_BYTES ? next : 0))
    fetch_ends "$from" "$size" "$ends"
    list_ends "$ends" "$size" "$from" </dev/null || status=$?
    next=$(reported '.from | numbers')
    if ((status != 0)) || [[ -z $next ]]; then break; fi
    [[ $next =~ ^[0-9]{1,18}$ ]] && ((next < from)) || return 1
  done
  rm -f "$ends"
  return "$status"
}
HEAD_BYTES=4096 END_BYTES_MAX=$((64 * 1024))

# The first bytes say what it is if it is no zip. An archive that is shorter than it should be has no end.
fetch_ends() { # FROM SIZE FILE
  local part
  require_room "$JOB" $(($2 - $1)) "Reading an archive" free
  : >"$3"
  if (($1 > 0)); then fetch_range 0 "$HEAD_BYTES" "$JOB/work/piece.head" || not_read; fi
  fetch_range "$1" "$2" "$JOB/work/piece.end" || not_read
  for part in head end; do
    if [[ -e $JOB/work/piece.$part ]]; then cat "$JOB/work/piece.$part" >>"$3"; fi
  done
  rm -f "$JOB"/work/piece.*
  chmod 644 "$3" # its folder is root's
}

unusable() { # STATUS SENTENCE
  (($1 != 3)) || corrupt "$(reported '.error | strings')"
  files_failed "$2"
}

corrupt() { fail BACKUP_CORRUPT "The backup's archive cannot be used: $1"; }

require_version() {
  local version
  version=$(reported '.version | strings')
  [[ $version == "${P[ERP_VERSION]}" ]] || corrupt "it is of version $version, not of ${P[ERP_VERSION]}"
}

# Streams the archive to a command. A command that does not read it to the end does not affect the checksum.
with_archive() { # COMMAND…: gets the stream's pipe as its last argument; its status
  local status=0 sum=$JOB/work/sum archive=$JOB/work/archive summing feeding working
  rm -f "$sum.in" "$archive"
  make_pipe "$sum.in"
  make_pipe "$archive"
  openssl dgst -sha256 -r <"$sum.in" >"$sum" & # several times as fast as sha256sum
  summing=$!
  stream_archive | tee -p "$sum.in" >"$archive" &
  feeding=$!
  "$@" "$archive" &
  working=$!
  wait_for_ends "$archive" "$feeding" "$working"
  wait "$working" || status=$?
  wait "$summing" || broken "The archive's checksum could not be computed"
  wait "$feeding" || touch "$JOB/work/unread"
  if [[ -e $JOB/work/unread ]]; then not_read; fi
  if [[ $(cut -d' ' -f1 "$sum") != $(parameter SHA256 '[0-9a-f]{64}') ]]; then
    # A backup that is found corrupt stays so: not because of one error of the machine.
    if [[ $1 != read_through ]]; then
      with_archive read_through
      broken "The archive did not match its checksum at first, but does now: try again"
    fi
    corrupt "it does not match its checksum"
  fi
  return "$status"
}

read_through() { cat "$1" >/dev/null; } # PIPE

not_read() {
  if has_expired "$JOB"/work/piece.*; then url_rejected "The backup storage rejected the download URL"; fi
  fail STORAGE_ERROR "The archive could not be read from the backup storage"
}

# In pieces with their own retries: while one is passed on, the next is fetched, and no more of the archive is on the disk. A
# piece that fails ends the stream, and the job once it sees "unread": a pipeline cannot end the job from here.
stream_archive() {
  local size number=0 piece fetching
  size=$(parameter SIZE_BYTES '[0-9]+')
  fetch_piece 0 "$size" &
  fetching=$!
  while wait "$fetching" || ! touch "$JOB/work/unread"; do
    piece=$JOB/work/piece.$number
    number=$((number + 1))
    if [[ ! -s $piece ]]; then return; fi # it is shorter than it should be
    if ((number * PIECE_BYTES < size)); then fetch_piece "$number" "$size" & fi
    fetching=$!
    cat "$piece" || return 1
    rm "$piece"
    if ((number * PIECE_BYTES >= size)); then return; fi
  done
}

fetch_piece() { # NUMBER SIZE
  local from=$(($1 * PIECE_BYTES))
  fetch_range "$from" $((from + PIECE_BYTES < $2 ? from + PIECE_BYTES : $2)) "$JOB/work/piece.$1"
}

# Nothing of what is beyond the end of the stored archive.
fetch_range() { # FROM TO FILE
  local status=$JOB/work/status
  download "${P[URL]}" "$3" --fail-with-body -r "$1-$(($2 - 1))" --max-filesize $(($2 - $1)) --retry-all-errors -w '%{http_code}' >"$status" ||
    [[ $(<"$status") == 416 ]] || return 1
  if [[ $(<"$status") == 416 ]]; then : >"$3"; fi
}
