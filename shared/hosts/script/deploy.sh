# Deploys: the code, the images and the data change together, and come back together.

# The newest images of the same versions of the ERP and of PostgreSQL, or the one that the ERP had with an earlier code. They are
# used from the next step on, and the instance keeps its own until its modules are updated.
job_pull_images() {
  local differing=null
  require_installed
  name_code
  require_fetched
  if [[ -n ${P[IMAGE]:-} ]]; then
    bring_image_back "$(parameter IMAGE 'sha256:[0-9a-f]{64}')"
    use_new_image
    ensure_database_server
    differing=$(differing_modules "$DATABASE" "$(fact edition)" "$CODE")
  else
    pull_newest
  fi
  jq -cn --argjson modules "$differing" --arg id "$(fact "codes/$CODE/image")" \
    --arg created "$(docker image inspect -f '{{.Created}}' "$(fact "codes/$CODE/image")")" \
    --arg before "$(fact image)" --arg database "$(fact "codes/$CODE/db_image")" --arg database_before "$(fact db_image)" \
    '{ id: $id, created_at: $created, previous_id: $before, changed: ($id != $before or $database != $database_before), modules: $modules }' | answer
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

job_keep_data() {
  require_installed
  name_code
  require_fetched
  case $(progress) in
    fetched | keeping) keep_data copy ;; # what a backup brings back is built beside it, and needs as much room
    kept | updating | updated) ;;
    *) broken "The data was not kept" ;;
  esac
}

# From here on nobody uses the ERP. Its files are linked: the ERP replaces none, it only adds and removes them.
keep_data() { # [copy: nothing else]
  local bytes archived=no max=0
  # While the ERP still runs: what has no room costs no downtime.
  ensure_database_server
  require_database "$DATABASE"
  drop_database "$OLD"
  rm -f "$KEPT" "$KEPT.draft"
  bytes=$(database_bytes)
  if [[ ${1:-} == copy ]] || ((bytes > ARCHIVED_BYTES_MAX || $(least_free "$(docker_root)") >= bytes + RESERVE_BYTES)); then
    require_room "$(docker_root)" "$bytes" "A copy of the database"
  else
    archived=yes
    max=$(archive_bytes_max)
    require_room "$HERE" "$max" "An archive of the database"
  fi
  set_progress keeping # before the ERP stops, so that the undo starts it again
  pause_erp
  if [[ $archived == yes ]]; then archive_database "$max"; else copy_database "$DATABASE" "$OLD"; fi
  files keep "$DATABASE" "$OLD" </dev/null || files_failed "The ERP's files cannot be read"
  set_fact "codes/$CODE/before" "$(fact code)"
  set_fact "codes/$CODE/before_image" "$(fact image)"
  set_fact "codes/$CODE/before_db_image" "$(fact db_image)"
  set_progress kept
}

# Whichever job comes first after a machine died brings an archive back, and some have nine minutes.
ARCHIVED_BYTES_MAX=$((32 * 1024 ** 3))

copy_database() { # FROM TO
  end_connections "$1" "$2"
  sql postgres <<<"create database \"$2\" template \"$1\""
  sql postgres <<<"alter database \"$2\" allow_connections false"
}

# A database that has no room for a copy is kept as an archive of the stopped database server's files. It takes some minutes
# instead of seconds, and so does its undo.
archive_database() { # BYTES-MAX
  echo "There is no room for a copy of the database, so it is kept as an archive"
  docker stop -t 60 "$PROJECT-db" >/dev/null
  { database_files "tar -cS ." </dev/null | gzip -1 | head -c "$1" >"$KEPT.draft" && (($(stat -c %s "$KEPT.draft") < $1)); } ||
    broken "The database could not be kept as an archive: it may need more than the $(megabytes "$1") MB that there are for it"
  sync "$KEPT.draft"
  mv "$KEPT.draft" "$KEPT"
  ensure_database_server
}

# Half of what the files take: they can mostly be compressed to a third.
archive_bytes_max() {
  # A file may go while it is looked at, which makes du fail.
  { docker exec -u postgres "$PROJECT-db" du -sk /var/lib/postgresql/data 2>/dev/null || true; } | awk '{ printf "%.0f", $1 * 512 }' | number
}

# Once it is back, an ERP that has been started may change it, and an undo that is repeated must leave that alone.
bring_archive_back() {
  docker stop -t 30 "$PROJECT" "$PROJECT-db" >/dev/null
  gzip -dc "$KEPT" | database_files "find . -mindepth 1 -delete && tar -x" || broken "The archive of the database could not be unpacked"
  sync
  rm -f "$KEPT"
}

# The files of the stopped database server, in a container of its own image.
database_files() { # SHELL-COMMAND
  docker run --rm -i --name "$PROJECT-files" --log-driver none --network none --cap-drop ALL --security-opt no-new-privileges --read-only \
    --memory 256m --pids-limit 64 --oom-score-adj 1000 --user postgres -v "${PROJECT}_db:/var/lib/postgresql/data" \
    --entrypoint sh "$(docker inspect -f '{{.Image}}' "$PROJECT-db")" -c "cd /var/lib/postgresql/data && $1"
}

# One job, because nobody uses the ERP meanwhile, and the service would notice the end of each part some seconds later.
job_update_modules() {
  local downtime
  require_installed
  name_code
  read_update
  require_fetched
  case $(progress) in
    kept | updated) ;;
    updating) begin_anew ;; # it was killed: what it had done may be a half
    fetched | keeping) keep_data ;;
    *) broken "The data was not kept" ;;
  esac
  if [[ $(progress) != updated ]]; then update_modules; fi
  set_fact wanted running
  start_erp
  downtime=$(downtime_until_it_responds)
  jq -cn --argjson downtime "$downtime" --arg id "$IMAGE" --arg digest "$(digest_of "$IMAGE")" \
    '{ downtime_seconds: $downtime, image: { id: $id, digest: (if $digest == "" then null else $digest end) } }' | answer
}

# By which the registry has it, which stays when its name goes to a newer one.
digest_of() { # IMAGE
  docker image inspect -f '{{range .RepoDigests}}{{println .}}{{end}}' "$1" | grep -aoEm1 'sha256:[0-9a-f]{64}$' || true
}

update_modules() {
  local status=0
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

# Modules that were installed, and not named for this update, were last updated with what they were before. With the base, the ERP
# updates all, those of the image, too.
note_hashes() {
  local hashes
  # Only names and hexadecimal digits: keep_code. The ERP's own code may have changed what the database had.
  hashes=$(jq -c --slurpfile known "$JOB/work/hashes" --slurpfile installed "$JOB/work/installed" --arg named "$UPDATE,$INSTALL" \
    --arg ofImage "$OF_IMAGE" --arg image "$(image_hash)" '
    $known[0] as $known | ($named | split(",")) as $updated | ($updated | index("base")) as $all
    | (if $all then [] else ($installed[0] | keys) - $updated end) as $left
    | (reduce $left[] as $name ({}; .[$name] = true)) as $left
    | with_entries(.value = if $left[.key] then $known[.key] else .value.hash end)
    | .[$ofImage] = if $all then $image else $known[$ofImage] // $image end
    | map_values(select(type == "string" and test("^[0-9a-f]{40,64}$")))' "$CODE_HOME/modules")
  sql "$DATABASE" <<<"insert into ir_config_parameter (key, value) values ('$HASHES', '$hashes') on conflict (key) do update set value = excluded.value"
}

# What a backup has brought back is not what was kept, and an archive is the way back alone: an update of these that was killed is
# undone.
begin_anew() {
  if ((${#UPDATES[@]} == 0)); then return; fi # nothing of the data was in progress
  [[ ! -e $HERE/restores/${CODE}_data && ! -e $KEPT ]] || fail UPDATE_FAILED "The update failed, so the code and the data were put back. Modules: $MODULES_NAMED"
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
  rm -f "$KEPT"
  if [[ -n $before && -d $HERE/codes/$before && -e $CODE_HOME/before_image ]]; then mv "$CODE_HOME/before_image" "$HERE/codes/$before/last_image"; fi
  rm -f "$HERE/stopped_at" "$CODE_HOME/before_image" "$CODE_HOME/before_db_image"
  for place in "$HERE"/codes/*; do
    if [[ -d $place && ${place##*/} != "$CODE" && ${place##*/} != "$before" ]]; then forget_code "${place##*/}"; fi
  done
  if [[ ${P[RESTORED]:-} == yes ]]; then answer_neutralized; fi
}

job_undo_code() {
  local state start downtime=null
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
      downtime=$(downtime_until_it_responds) # from then on the instance counts as running
    else
      set_fact wanted stopped
    fi
  fi
  rm -f "$HERE/stopped_at"
  forget_code "$CODE"
  echo "{\"downtime_seconds\":$downtime}" | answer
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
      if [[ -e $KEPT ]]; then bring_archive_back; fi
      quiet_erp
      switch_images "$(fact "codes/$CODE/before_image")" "$(fact "codes/$CODE/before_db_image")"
      ensure_database_server
      swap_back
      set_fact code "$(fact "codes/$CODE/before")"
      forget_new
      ;;
  esac
}

# A machine that died in the middle of a deploy may come back after the deploy was abandoned: see settle_restores. What was
# updated stays, and what it replaced goes with the next deploy.
settle_deploys() {
  local place operation=${JOB##*/} state
  for place in "$HERE"/codes/*/progress; do
    CODE=${place%/progress} CODE=${CODE##*/}
    if [[ ! -e $place || $CODE == "${operation%%-*}" || $CODE == "${P[CODE_ID]:-}" ]]; then continue; fi
    name_data_of_code
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
        rm -f "$KEPT"
        if forget "$OLD"; then rm -f "$place"; fi
        ;;
    esac
  done
}
