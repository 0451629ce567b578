# Backups: the archive is packed, and sent. Archives in the store are read as a stream, of which nothing stays.

# The files are linked first, then dumped, then what came since is added: whatever the dump names is in the archive, also if it was
# removed meanwhile. Nothing of it is written but the archive itself.
job_make_archive() {
  local archive=$JOB/archive.zip
  require_installed
  require_database "$DATABASE"
  rm -f "$archive"
  set_fact snapshot yes
  files snapshot "$DATABASE" </dev/null || refused "The ERP's files cannot be read"
  require_room "$JOB" $(($(database_bytes) + $(told_number bytes))) "A backup of the ERP"
  { manifest && dump; } | files pack "$DATABASE" >"$archive" || refused "The archive could not be written"
  rm -f "$HERE/snapshot"
  jq -c --argjson archive "$(describe "$archive")" '$archive + { missing_files, skipped_files, skipped_paths }' \
    <(tail -n 1 "$JOB/work/told") | answer
}

# A backup that was killed left it.
forget_snapshot() {
  if [[ ! -e $HERE/snapshot ]]; then return; fi
  if files remove .snapshot </dev/null; then rm -f "$HERE/snapshot"; fi # else the next job tries again
}

dump() { docker exec -e PGAPPNAME=erp-hosting "$PROJECT-db" pg_dump -U odoo --no-owner --no-privileges "$DATABASE"; }

database_bytes() { sql postgres <<<"select pg_database_size('$DATABASE')" | number; }

# As the ERP's own tools write it, in a line. Its release and the files that are missing are added where it is packed.
manifest() {
  local server
  server=$(sql postgres <<<"show server_version_num" | number)
  sql "$DATABASE" <<<"select coalesce(json_object_agg(name, latest_version), '{}') from (
      select left(name, 100) as name, left(latest_version, 100) as latest_version from ir_module_module where state = 'installed' limit 5000
    ) as modules" |
    head -c 2000000 | jq -c --arg name "$DATABASE" --arg major "$VERSION" --arg server "$((server / 10000)).0" '{
      odoo_dump: "1", db_name: $name, version_info: (($major | split(".") | map(tonumber)) + [0, "final", 0, ""]),
      major_version: $major, pg_version: $server, modules: .
    }'
}

describe() { # ARCHIVE
  local size part hex whole=$JOB/work/whole
  size=$(stat -c %s "$1")
  part=$(((size + PARTS_MAX - 1) / PARTS_MAX))
  part=$((part > PART_BYTES_MIN ? part : PART_BYTES_MIN))
  sha256sum <"$1" >"$whole" &
  split --bytes="$part" --filter=sha256sum "$1" | while read -r hex _; do
    # shellcheck disable=SC2001,SC2059 # the format is the bytes
    printf "$(sed 's/../\\x&/g' <<<"$hex")" | base64
  done | jq -R . >"$JOB/work/parts"
  wait $!
  jq -cs --argjson size "$size" --arg sha256 "$(cut -d' ' -f1 "$whole")" --argjson part "$part" \
    '{ size_bytes: $size, sha256: $sha256, part_bytes: $part, parts: . }' "$JOB/work/parts"
}

job_upload_parts() {
  local archive number url checksum bytes seconds status through=0
  archive=$JOBS/$(parameter ARCHIVE_JOB '[A-Za-z0-9_-]+')/archive.zip
  bytes=$(parameter PART_BYTES '[0-9]+')
  seconds=$(parameter SECONDS '[0-9]+')
  [[ -s $archive ]] || broken "The archive is not on the server any more"
  require_room "$JOB" "$bytes" "Sending a backup"
  while read -r number url checksum; do
    if ((SECONDS >= seconds)); then break; fi # the addresses are about to expire: what is left gets new ones
    dd if="$archive" of="$JOB/work/part" bs=1M iflag=skip_bytes,count_bytes skip=$(((number - 1) * bytes)) count="$bytes" status=none
    printf 'url = "%s"\nheader = "x-amz-checksum-sha256: %s"\n' "$url" "$checksum" |
      curl --config - -fsS --retry 4 --retry-all-errors --retry-delay 3 --connect-timeout 20 --speed-limit 1000 --speed-time 60 \
        -T "$JOB/work/part" -o /dev/null -w '%{http_code}' >"$JOB/work/status" || {
      status=$(<"$JOB/work/status")
      [[ $status != 403 ]] || address_refused "The store refuses the addresses that the archive is sent to"
      fail STORAGE_ERROR "The archive could not be sent to the store"
    }
    through=$number
  done <<<"${P[PARTS]}"
  echo "{\"through\":$through}" | answer
}

job_forget() {
  rm -f "$JOBS/$(parameter JOB '[A-Za-z0-9_-]+')/archive.zip"
}

# Reads the whole archive. What it found is kept for the restore, which needs to know what it takes before it begins.
job_verify_archive() {
  local version
  version=$(parameter ERP_VERSION '[0-9]+\.[0-9]+')
  require_docker
  docker image inspect "odoo:$version" >/dev/null 2>&1 || pull "odoo:$version"
  with_archive check_archive || unusable "$?" "The backup's archive could not be read"
  require_version
  tail -n 1 "$JOB/work/told" | jq -c '{ dump_bytes, file_bytes }' >"$JOB/work/inspected"
  mv "$JOB/work/inspected" "$ARCHIVES/$(parameter SHA256 '[0-9a-f]{64}').json"
}

unusable() { # STATUS SENTENCE
  (($1 != 3)) || corrupt "$(told '.error | strings')"
  refused "$2"
}

corrupt() { fail BACKUP_CORRUPT "The backup's archive cannot be used: $1"; }

require_version() {
  local version
  version=$(told '.version | strings')
  [[ $version == "${P[ERP_VERSION]}" ]] || corrupt "it is of version $version, not of ${P[ERP_VERSION]}"
}

# Passes the archive on to a command, as a stream. One that does not read it to its end changes nothing in what its checksum says.
with_archive() { # COMMAND…: its status
  local status=0 sum=$JOB/work/sum
  rm -f "$sum.in"
  mkfifo "$sum.in"
  sha256sum <"$sum.in" >"$sum" &
  stream_archive | tee -p "$sum.in" | "$@" || status=$?
  wait $!
  if [[ -e $JOB/work/unread ]]; then
    [[ $(<"$JOB/work/status") != 403 ]] || address_refused "The store refuses the address that the archive is read from"
    fail STORAGE_ERROR "The archive could not be read from the store"
  fi
  [[ $(cut -d' ' -f1 "$sum") == $(parameter SHA256 '[0-9a-f]{64}') ]] || corrupt "it does not match its checksum"
  return "$status"
}

# In pieces, each tried again by itself; while one is passed on the next is fetched, and no more of the archive is on the disk. What
# cannot be fetched ends the stream, and the job once it sees "unread": from here, in a pipeline, it could not be ended.
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
    cat "$piece"
    rm "$piece"
    if ((number * PIECE_BYTES >= size)); then return; fi
  done
}

fetch_piece() { # NUMBER SIZE: nothing of what is beyond the archive's end
  local from=$(($1 * PIECE_BYTES)) to piece=$JOB/work/piece.$1 status=$JOB/work/status
  to=$((from + PIECE_BYTES < $2 ? from + PIECE_BYTES : $2))
  download "${P[URL]}" "$piece" -r "$from-$((to - 1))" --max-filesize "$PIECE_BYTES" --retry-all-errors -w '%{http_code}' >"$status" ||
    [[ $(<"$status") == 416 ]] || return 1
  if [[ $(<"$status") == 416 ]]; then : >"$piece"; fi
}
