# Restoring: builds the data beside the old while the ERP runs, then swaps. restores/ID has the progress: building, built,
# swapping, swapped, undoing. A running ERP stops as late as possible; stopped_at has the time.

job_build_restore() {
  require_installed
  name_restore
  case $(fact "restores/$RESTORE") in
    '' | building) build_restore ;;
  esac
  report_modules
}

job_pause_erp() {
  require_installed
  name_restore
  require_built
  pause_erp
}

job_swap_restore() {
  local downtime=null
  require_installed
  name_restore
  require_built
  if [[ $(fact "restores/$RESTORE") != swapped ]]; then swap; fi
  if [[ ${P[KEEP_OLD]} != yes ]]; then drop_old; fi
  if [[ ${P[START]} == yes ]]; then
    set_fact wanted running
    start_erp
    downtime=$(downtime_until_it_responds)
  fi
  echo "{\"downtime_seconds\":$downtime}" | answer
}

# Whether the ERP is well is found out by who asked for its start.
downtime_until_it_responds() {
  if [[ -e $HERE/stopped_at ]]; then within 120 answers_page /web/login >&2 || true; fi
  downtime
}

# In seconds; "null" if it was stopped before.
downtime() {
  local seconds
  if [[ ! -e $HERE/stopped_at ]]; then
    echo null
    return
  fi
  seconds=$(($(date +%s) - $(fact stopped_at)))
  echo $((seconds > 0 ? seconds : 0)) # the clock may have been set back meanwhile
}

# For an instance without users yet.
job_restore_archive() {
  job_build_restore
  mv "$JOB/answer" "$JOB/work/modules"
  job_swap_restore
  mv "$JOB/work/modules" "$JOB/answer"
}

# The ERP may not even start without them.
report_modules() {
  local modules=null
  if [[ ${P[RESTORE_DATABASE]} == yes && $(fact "restores/$RESTORE") == built ]]; then modules=$(differing_modules "$NEW" "$(fact edition)"); fi
  echo "{\"modules\":$modules}" | answer
}

require_built() { [[ $(fact "restores/$RESTORE") =~ ^(built|swapping|swapped)$ ]] || broken "The data to restore has not been built"; }

build_restore() {
  local status=0
  ensure_database_server
  reset_role
  require_room_for_data
  set_fact "restores/$RESTORE" building
  forget_new
  if [[ ${P[RESTORE_DATABASE]} == yes ]]; then
    make_loader
    make_database "$NEW" "$LOADER"
    find_database "$NEW"
    set_fact "$NEW.oid" "$OID"
    make_extensions "$NEW" "${SUPERUSER_EXTENSIONS[@]}"
  fi
  with_archive unpack || status=$?
  if ((status != 0)); then unusable "$status" "The backup's files could not be restored"; fi
  [[ ! -e $JOB/work/not-loaded ]] || broken "The backup's database could not be restored"
  require_version
  if [[ ${P[RESTORE_DATABASE]} == yes && ${P[RESTORE_FILESTORE]} == yes ]]; then require_files; fi
  if [[ ${P[RESTORE_DATABASE]} == yes ]]; then
    end_loader
    finish_database
  fi
  set_fact "restores/$RESTORE" built
}

# The dump is loaded while the archive is read, before its checksum is known: by a role that owns the new database and nothing
# else, so that a dump that was tampered with cannot change the present one, or end its sessions.
LOADER='' # the drill and the import have a database server that holds nothing else
make_loader() {
  LOADER=erp_restore LOADER_PASSWORD=$(random)
  sql postgres <<SQL
do \$\$ begin
  if not exists (select from pg_roles where rolname = '$LOADER') then create role $LOADER; end if;
end \$\$;
alter role $LOADER login nosuperuser nocreatedb nocreaterole password '$LOADER_PASSWORD';
alter role $LOADER reset all;
SQL
}

end_loader() {
  end_unaccent "$NEW"
  sql_as "$(superuser)" "$NEW" <<<"reassign owned by $LOADER to odoo; alter role $LOADER nologin password null"
  LOADER='' LOADER_PASSWORD=''
}

# By the archive alone: what it was unpacked to is within reach of the ERP's own code. The import of an uploaded one has counted
# its files.
require_files() {
  local missing known
  if [[ -n ${P[MISSING_FILES]:-} ]]; then return; fi
  missing=$(reported_number missing_files)
  known=$(reported_number known_missing)
  ((missing <= known)) || corrupt "$missing files that its database lists are not in it, $known were missing when it was made"
}

name_restore() {
  RESTORE=$(parameter RESTORE_ID '[a-z0-9_]{1,50}')
  name_data
}

name_data() { NEW=new_$RESTORE OLD=old_$RESTORE; }

forget_new() {
  drop_database "$NEW"
  remove_files "$NEW"
}


# A database takes about as much again for its indexes. The safety backup is taken while both exist.
require_room_for_data() {
  local known bytes
  known=$ARCHIVES/$(parameter SHA256 '[0-9a-f]{64}').json
  jq -e .entries "$known" >/dev/null 2>&1 || job_verify_archive # an earlier version of the script did not store that
  bytes=$(jq '2 * .dump_bytes + .file_bytes + 128 * 1024 * 1024' "$known" | number)
  if [[ ${P[BACKUP_FIRST]:-} == yes ]]; then
    files measure "$DATABASE" </dev/null || files_failed "The ERP's files cannot be read"
    bytes=$((bytes + $(database_bytes) + $(reported_number bytes)))
  fi
  require_room "$(docker_root)" "$bytes" "The backup's data"
}

UNPACK=(load) # the command of the files' program with a dump, and what it needs besides the place and what is known

# In one pass: the files go to their place, the dump to the database. Without the database, the files are added to the present
# ones.
unpack() { # PIPE: whether its files could be restored
  local into=- dump=$JOB/work/dump known unpacking loading
  if [[ ${P[RESTORE_FILESTORE]} == yes ]]; then into=$NEW; fi
  if [[ ${P[RESTORE_DATABASE]} != yes ]]; then
    files --in "$1" unpack "$into" "$DATABASE" </dev/null
    return
  fi
  known=$(known_here "$NEW")
  make_pipe "$dump"
  files --in "$1" --out "$dump" "${UNPACK[@]:0:1}" "$into" "${UNPACK[@]:1}" "$known" </dev/null &
  unpacking=$!
  load_dump "$dump" &
  loading=$!
  wait_for_ends "$dump" "$unpacking" "$loading"
  wait "$loading" || echo $? >"$JOB/work/not-loaded"
  wait "$unpacking"
}

# What a dump may name and this database server has, and whether the dump comes from outside: see Origin in files/statements.py.
known_here() { # DATABASE
  local outside=${P[OUTSIDE]:-}${P[MISSING_FILES]:-}
  sql "$1" <<'SQL' | head -c 65536 | jq -c --arg outside "$outside" '. + { outside: ($outside != "") }' || broken "The database does not say what it has"
select json_build_object(
  'present', (select json_agg(extname) from pg_extension),
  'creatable', (select json_agg(distinct name) from pg_available_extension_versions where trusted or not superuser),
  'settings', (select json_agg(lower(name)) from pg_settings))
SQL
}

# A dump is hostile text, and psql runs commands in it. In one transaction, the server does not also write the contents of tables
# that it creates to the write-ahead log, if it keeps none for others and has room for the locks.
load_dump() { # PIPE
  local whole=()
  if [[ $(sql postgres <<<"show wal_level") == minimal ]]; then whole=(--single-transaction); fi
  client psql --in "$1" -Xq -v ON_ERROR_STOP=1 -v VERBOSITY=verbose "${whole[@]}" -d "$NEW" -f /in 2>&1 >/dev/null | bounded
}

# A database client, in a container with only the ERP's own access to it, or the loader's.
client() { # COMMAND [--in PIPE] [--out PIPE] ARGUMENT…
  local command=$1
  shift
  pass "$@"
  PGPASSWORD=${LOADER_PASSWORD:-$(odoo_setting db_password)} docker run --rm --name "$PROJECT-$command" --log-driver none --network "$NETWORK" \
    --cap-drop ALL --security-opt no-new-privileges --read-only --memory 1g --pids-limit 64 --oom-score-adj 1000 \
    --user postgres --tmpfs /var/lib/postgresql/data -e PGPASSWORD -e PGAPPNAME=erp-hosting "${PASSED[@]}" \
    --entrypoint "$command" "$(docker inspect -f '{{.Image}}' "$PROJECT-db")" \
    -h "$DB_HOST" -U "${LOADER:-$(odoo_setting db_user)}" "${REST[@]}" </dev/null
}

setting() { sql "$1" <<<"select left(value, 200) from ir_config_parameter where key = '$2'" | head -c 1000; } # DATABASE KEY

# Its URL is this instance's, and it is neutralized before it can start.
finish_database() {
  set_fact archived_uuid "$(setting "$NEW" database.uuid)"
  # Without their files, the sign-in page would be there, and nothing that it needs.
  if [[ ${P[RESTORE_FILESTORE]} == yes ]]; then count_missing; fi
  if [[ ${P[RESTORE_FILESTORE]} != yes || $(reported .missing_files) != 0 ]]; then remove_generated "$NEW"; fi
  sql "$NEW" -v "url=https://$DOMAIN" -v "report_url=$REPORT_URL" <<'SQL'
insert into ir_config_parameter (key, value)
values ('web.base.url', :'url'), ('web.base.url.freeze', 'True'), ('report.url', :'report_url')
on conflict (key) do update set value = excluded.value
SQL
  if [[ ${P[NEUTRALIZE]} == yes ]]; then neutralize "$NEW"; fi
  sql "$NEW" <<<"analyze" # a dump has no statistics
}

# Asks the database: a dump from outside may list its files otherwise than pg_dump's COPY does, as with --inserts.
count_missing() {
  sql "$NEW" <<<"select distinct store_fname from ir_attachment where store_fname is not null" | files missing "$NEW" ||
    files_failed "The restored files could not be compared"
}

# Stylesheets and scripts that the ERP has put together from its modules, and does again when it is asked for them. Those of
# versions before 17 had other addresses; a database may still list them.
remove_generated() { # DATABASE [PSQL OPTION…]
  sql "$@" <<'SQL'
delete from ir_attachment where url like '/web/assets/%' or (res_model = 'ir.ui.view' and url like '/web/content/%assets%')
SQL
}

pause_erp() {
  if is_running "$PROJECT" && [[ ! -e $HERE/stopped_at ]]; then set_fact stopped_at "$(date +%s)"; fi
  quiet_erp
}

# Without its container, the ERP still has sessions in the database server, where more of its statements may wait: such as one
# that drops what was built, which belongs to its role.
quiet_erp() {
  docker stop -t 30 "$PROJECT" >/dev/null
  ensure_database_server
  within 10 erp_is_quiet || broken "The ERP's sessions in the database server do not end"
}

# Ends what sessions there are; true if there were none. A session's parallel workers end with it, and some end by themselves.
erp_is_quiet() {
  local ended
  ended=$(sql postgres <<<"select count(pg_terminate_backend(pid)) from pg_stat_activity
    where usename = 'odoo' and backend_type = 'client backend' and pid <> pg_backend_pid()") && [[ $ended == 0 ]]
}

swap() {
  local merge=()
  pause_erp
  if [[ $(fact "restores/$RESTORE") == built ]]; then require_built_data; fi
  set_fact "restores/$RESTORE" swapping
  if has_database "$NEW"; then swap_databases; fi
  require_oid "$NEW" "The restored database is not there any more: the ERP removed it"
  if [[ ${P[RESTORE_FILESTORE]} == yes ]]; then
    if [[ ${P[RESTORE_DATABASE]} != yes ]]; then merge=(merge); fi # the present database stays, and goes on naming its files
    files swap "$NEW" "$DATABASE" "$OLD" "${merge[@]}" </dev/null || files_failed "The ERP's files could not be swapped"
  fi
  set_fact "restores/$RESTORE" swapped
}

# Both or neither. An undo needs the old one, which no longer belongs to the ERP's role, or the restored ERP could drop it.
swap_databases() {
  local keep=''
  end_connections "$DATABASE" "$NEW"
  if has_database "$DATABASE"; then
    keep="alter database \"$DATABASE\" rename to \"$OLD\"; alter database \"$OLD\" owner to current_user;
      $(altered "$OLD" "allow_connections false")"
  fi
  sql postgres <<<"begin; $keep
    alter database \"$NEW\" rename to \"$DATABASE\"; commit"
}

NO_DATABASE=none # the oid of a database that the ERP itself has removed

# Whether the ERP's database is the one that was known by this name. Earlier versions of the script did not store its oid.
require_oid() { # NAME SENTENCE
  local oid
  oid=$(fact "$1.oid")
  if [[ -z $oid ]]; then return; fi
  find_database "$DATABASE"
  [[ ${OID:-$NO_DATABASE} == "$oid" ]] || broken "$2"
}

# Until it stopped, the ERP's own code could remove what was built, and leave something in its place.
require_built_data() {
  if [[ ${P[RESTORE_DATABASE]} == yes ]]; then
    has_database "$NEW" || broken "The restored database is not there any more: the ERP removed it"
    find_database "$DATABASE"
    set_fact "$OLD.oid" "${OID:-$NO_DATABASE}"
  fi
  if [[ ${P[RESTORE_FILESTORE]} == yes ]]; then
    files prepare "$NEW" "$OLD" </dev/null || files_failed "The restored files cannot be read"
  fi
}

end_connections() { sql postgres <<<"select pg_terminate_backend(pid) from pg_stat_activity where datname in ('$1', '$2')" >/dev/null; }

# Before the swap, removes what was built and continues the ERP, which may have been stopped for its backup.
job_put_back() {
  if [[ ! -d $HERE ]]; then return; fi
  name_restore
  local state
  state=$(fact "restores/$RESTORE")
  if [[ -z $state ]]; then return; fi
  ensure_database_server
  if [[ $state == swapping || $state == swapped || $state == undoing ]]; then
    set_fact "restores/$RESTORE" undoing
    quiet_erp
    swap_back
    set_fact wanted stopped
    set_fact "restores/$RESTORE" building # from here on the ERP's database is its own again, which it may drop
  fi
  if [[ $(parameter START 'yes|no') == yes || -e $HERE/stopped_at ]]; then
    set_fact wanted running
    start_erp
    # From then on the instance counts as running.
    if [[ -e $HERE/stopped_at ]]; then within 120 answers_page /web/login || true; fi
  fi
  rm -f "$HERE/stopped_at"
  forget_new
  forget_progress
}

forget_progress() { rm -f "$HERE/restores/$RESTORE" "$HERE/$NEW.oid" "$HERE/$OLD.oid"; }

swap_back() {
  local replaced='' old=''
  if has_database "$OLD"; then
    old="alter database \"$OLD\" rename to \"$DATABASE\"; alter database \"$DATABASE\" owner to odoo;
      $(altered "$DATABASE" "allow_connections true")"
  fi
  if [[ -n $old || $(fact "$OLD.oid") == "$NO_DATABASE" ]]; then
    end_connections "$DATABASE" "$OLD"
    if has_database "$DATABASE"; then replaced="alter database \"$DATABASE\" rename to \"$NEW\";"; fi
    sql postgres <<<"begin; $replaced $old
      commit"
  fi
  require_oid "$OLD" "The database from before the restore is not there any more"
  files swap_back "$OLD" "$DATABASE" "$NEW" </dev/null || files_failed "The ERP's files could not be put back"
}

# A machine that died in the middle of a restore may come back after the restore was abandoned: it must not serve half of the old
# data with half of the new, and must remove what was built. A restore in progress is left to its own operation's jobs, and one
# that was swapped stays; the next restore removes what it replaced.
settle_restores() {
  local place operation=${JOB##*/} kind
  kind=$(<"$JOB/kind")
  for place in "$HERE"/restores/*; do
    RESTORE=${place##*/}
    if [[ ! -e $place || $RESTORE == "${operation%%-*}" || $RESTORE == "${P[RESTORE_ID]:-}" ]]; then continue; fi
    name_data
    case $(fact "restores/$RESTORE") in
      swapping | undoing)
        quiet_erp
        swap_back
        set_fact "restores/$RESTORE" building
        if forget "$NEW"; then forget_progress; fi
        if [[ $kind == undo_code ]]; then continue; fi # it puts back the data from before its deploy, and starts the ERP only with that
        rm -f "$HERE/stopped_at"
        if [[ $(fact wanted) == running ]]; then start_erp; fi
        ;;
      building | built)
        if [[ $kind == stop_erp ]]; then continue; fi # it must stop even if its database does not start
        ensure_database_server
        if forget "$NEW"; then forget_progress; fi
        if [[ $kind == undo_code ]]; then continue; fi
        # Its restore had stopped it for the safety backup.
        if [[ -e $HERE/stopped_at && $(fact wanted) == running ]]; then start_erp; fi
        rm -f "$HERE/stopped_at"
        ;;
      swapped)
        if [[ $kind != build_restore && $kind != restore_archive ]]; then continue; fi
        ensure_database_server
        if forget "$OLD"; then forget_progress; fi
        ;;
    esac
  done
}

# What cannot be removed now is left to the next job: the ERP's own code may hold it, which must not stop everything else.
forget() { drop_database "$1" && files remove "$1" </dev/null; } # NAME

job_drop_old() {
  require_installed
  name_restore
  require_database "$DATABASE"
  drop_old
  rm -f "$HERE/stopped_at"
  answer_neutralized
}

answer_neutralized() {
  jq -cn --arg neutralized "$(setting "$DATABASE" database.is_neutralized)" '{ neutralized: ($neutralized == "true") }' | answer
}

drop_old() {
  ensure_database_server
  sync # what replaces it must be on the disk first
  drop_database "$OLD"
  remove_files "$OLD"
  if [[ ${P[KEEP_OLD]:-} != no ]]; then forget_progress; fi # a restore that is run again must find that it was done
}
