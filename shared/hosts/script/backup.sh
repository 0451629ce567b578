# Backups: the archive is packed, sent, and read again.

# The database first, the files second: a file is never removed as soon as it is not needed, but a new one is needed at once.
job_make_archive() {
  local work=$JOB/work files name
  require_installed
  require_database "$DATABASE"
  files=$(filestores)/$DATABASE
  mkdir -p "$files"
  chown --reference="$(dirname "$(filestores)")" "$(dirname "$files")" "$files"
  require_room "$JOB" $((2 * $(database_bytes) + $(du -sb "$files" | cut -f1))) "A backup of the ERP"
  rm -f "$JOB/archive.zip"
  docker exec -e PGAPPNAME=erp-hosting "$PROJECT-db" pg_dump -U odoo --no-owner --no-privileges "$DATABASE" |
    tee "$work/dump.sql" | attachments_of >"$work/listed"
  tail -n 20 "$work/dump.sql" | grep -q '^-- PostgreSQL database dump complete' || broken "The database could not be dumped completely"
  ln -s "$files" "$work/filestore"
  cd "$work"
  zip -q1r archive.zip dump.sql filestore || (($? == 18)) || broken "The archive could not be written" # 18: a file was removed meanwhile
  rm dump.sql
  unzip -Z1 archive.zip | sed -n 's:^filestore/::p' >"$work/files"
  missing_files "$work/listed" "$work/files" >"$work/missing"
  while read -r name; do [[ ! -e $files/$name ]] || broken "The ERP's file $name could not be read"; done <"$work/missing"
  manifest "$(wc -l <"$work/missing")" >manifest.json
  zip -gq1 archive.zip manifest.json
  P[ERP_VERSION]=$VERSION
  require_readable archive.zip # what a restore would refuse is no backup
  mv archive.zip "$JOB/archive.zip"
  describe "$JOB/archive.zip" | answer
}

database_bytes() { sql postgres <<<"select pg_database_size('$DATABASE')"; }

# The files that a dump's attachments are in.
attachments_of() {
  awk -F '\t' '
    /^COPY public\.ir_attachment \(/ {
      sub(/^[^(]*\(/, ""); sub(/\).*$/, "")
      count = split($0, names, /, */)
      for (i = 1; i <= count; i++) if (names[i] == "store_fname") column = i
      next
    }
    column && $0 == "\\." { column = 0 }
    column && $column != "\\N" { print $column }'
}

missing_files() { comm -23 <(sort -u "$1") <(sort -u "$2"); } # LISTED PRESENT

# As the ERP's own tools write it, and how many of the listed files were missing already.
manifest() { # MISSING
  local version server
  version=$(docker run --rm --network none --entrypoint odoo "$IMAGE" --version | awk '{ print $NF }')
  server=$(sql postgres <<<"show server_version_num")
  sql "$DATABASE" <<<"select coalesce(json_object_agg(name, latest_version), '{}') from ir_module_module where state = 'installed'" |
    jq --arg name "$DATABASE" --arg version "$version" --arg major "$VERSION" --arg server "$((server / 10000)).0" --argjson missing "$1" '{
      odoo_dump: "1", db_name: $name, version: $version,
      version_info: (($major | split(".") | map(tonumber)) + [0, "final", 0, ""]), major_version: $major,
      pg_version: $server, modules: ., missing_files: $missing
    }'
}

describe() { # ARCHIVE
  local size part hex
  size=$(stat -c %s "$1")
  part=$(((size + PARTS_MAX - 1) / PARTS_MAX))
  part=$((part > PART_BYTES_MIN ? part : PART_BYTES_MIN))
  split --bytes="$part" --filter=sha256sum "$1" | while read -r hex _; do
    # shellcheck disable=SC2001,SC2059 # the format is the bytes
    printf "$(sed 's/../\\x&/g' <<<"$hex")" | base64
  done | jq -R . | jq -cs --argjson size "$size" --arg sha256 "$(sha256sum "$1" | cut -d' ' -f1)" --argjson part "$part" \
    '{ size_bytes: $size, sha256: $sha256, part_bytes: $part, parts: . }'
}

job_upload_parts() {
  local archive number url checksum bytes status
  archive=$JOBS/$(parameter ARCHIVE_JOB '[A-Za-z0-9_-]+')/archive.zip
  bytes=$(parameter PART_BYTES '[0-9]+')
  [[ -s $archive ]] || broken "The archive is not on the server any more"
  require_room "$JOB" "$bytes" "Sending a backup"
  while read -r number url checksum; do
    dd if="$archive" of="$JOB/work/part" bs=1M iflag=skip_bytes,count_bytes skip=$(((number - 1) * bytes)) count="$bytes" status=none
    printf 'url = "%s"\nheader = "x-amz-checksum-sha256: %s"\n' "$url" "$checksum" |
      curl --config - -fsS --retry 4 --retry-all-errors --retry-delay 3 --connect-timeout 20 --speed-limit 1000 --speed-time 60 \
        -T "$JOB/work/part" -o /dev/null -w '%{http_code}' >"$JOB/work/status" || {
      status=$(<"$JOB/work/status")
      [[ $status != 403 ]] || address_refused "The store refuses the addresses that the archive is sent to"
      fail STORAGE_ERROR "The archive could not be sent to the store"
    }
  done <<<"${P[PARTS]}"
}

job_forget() {
  rm -f "$JOBS/$(parameter JOB '[A-Za-z0-9_-]+')/archive.zip"
}

job_verify_archive() { fetch_archive; }

# Into archives/, whole and checked; what is there already is taken as it is.
fetch_archive() {
  local sha256 size part
  sha256=$(parameter SHA256 '[0-9a-f]{64}')
  size=$(parameter SIZE_BYTES '[0-9]+')
  ARCHIVE=$ARCHIVES/$sha256.zip part=$ARCHIVES/$sha256.part
  exec 5>"$ARCHIVES/$sha256.lock"
  flock 5
  if [[ ! -s $ARCHIVE ]]; then
    # What a broken download left is gone on with, unless it turns out to be something else.
    get_part "$part" "$size" "$sha256" || { rm -f "$part"; get_part "$part" "$size" "$sha256"; } || { rm -f "$part"; corrupt "it does not match its checksum"; }
    require_readable "$part"
    mv "$part" "$ARCHIVE"
  fi
  touch "$ARCHIVE"
  ln "$ARCHIVE" "$JOB/work/archive.zip" # another job that is done with the same archive removes it
  ARCHIVE=$JOB/work/archive.zip
  exec 5>&-
  require_room_for_data
}

get_part() { # FILE SIZE SHA256: whether it is what it should be
  local status=0 present
  present=$(stat -c %s "$1" 2>/dev/null || echo 0)
  if ((present < $2)); then
    require_room "$ARCHIVES" $(($2 - present)) "The backup's archive"
    download "${P[URL]}" "$1" -C - --max-filesize "$2" || status=$?
    ((status == 0 || status == 63 || status == 33)) || fail STORAGE_ERROR "The archive could not be read from the store" # 63: too large, 33: cannot be gone on with
  fi
  [[ $(sha256sum "$1" 2>/dev/null | cut -d' ' -f1) == "$3" ]]
}

corrupt() { fail BACKUP_CORRUPT "The backup's archive cannot be used: $1"; }

require_readable() { # ARCHIVE
  local version
  unzip -Z1 "$1" >"$JOB/work/names" 2>/dev/null || corrupt "it cannot be read"
  ! grep -qvE '^(dump\.sql|manifest\.json|filestore/([A-Za-z0-9_-]+/)*[A-Za-z0-9_.-]*)$' "$JOB/work/names" || corrupt "it has files that it should not have"
  ! grep -qE '(^|/)\.\.?(/|$)' "$JOB/work/names" || corrupt "it has files that it should not have"
  unzip -Z "$1" >"$JOB/work/modes"
  ! grep -q '^l' "$JOB/work/modes" || corrupt "it has links"
  grep -qx dump.sql "$JOB/work/names" || corrupt "it has no database"
  version=$(unzip -p "$1" manifest.json | jq -er .major_version) || corrupt "it has no manifest"
  [[ $version == "${P[ERP_VERSION]}" ]] || corrupt "it is of version $version, not of ${P[ERP_VERSION]}"
}

# A database takes about as much again for its indexes, and up to 1 GB for the log of its changes.
require_room_for_data() {
  local bytes
  bytes=$(unzip -l "$ARCHIVE" | awk '$4 == "dump.sql" { sum += 2 * $1 } $4 ~ /^filestore\// { sum += $1 } END { printf "%.0f", sum + 2 ^ 30 }')
  require_room "$(docker_root)" "$bytes" "The backup's data"
}
