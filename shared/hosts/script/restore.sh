# Restoring: beside the old, then swapped. How far it came is in restores/ID: building, built, swapping, swapped, undoing.

job_restore_archive() {
  require_installed
  name_restore
  case $(fact "restores/$RESTORE") in
    '' | building)
      fetch_archive
      ensure_database_server
      set_fact "restores/$RESTORE" building
      forget_new
      if [[ ${P[RESTORE_DATABASE]} == yes ]]; then build_database; fi
      if [[ ${P[RESTORE_FILESTORE]} == yes ]]; then build_filestore; fi
      if [[ ${P[RESTORE_DATABASE]} == yes ]]; then finish_database; fi
      set_fact "restores/$RESTORE" built
      ;;
  esac
  if [[ $(fact "restores/$RESTORE") != swapped ]]; then swap; fi
  if [[ ${P[KEEP_OLD]} != yes ]]; then drop_old; fi
  if [[ ${P[START]} == yes ]]; then
    set_fact wanted running
    start_erp
  fi
  rm -f "$ARCHIVES/${P[SHA256]}.zip"
}

name_restore() {
  RESTORE=$(parameter RESTORE_ID '[a-z0-9_]{1,50}')
  name_data
}

name_data() { NEW=new_$RESTORE OLD=old_$RESTORE FILES=$(filestores); }

forget_new() {
  drop_database "$NEW"
  rm -rf "${FILES:?}/$NEW"
}

# Lines that only the newest clients know, \restrict and \unrestrict, are left out: the archive may come from another machine.
build_database() {
  make_database "$NEW"
  unzip -p "$ARCHIVE" dump.sql | sed -E '/^\\(un)?restrict [A-Za-z0-9]+$/d' | sql "$NEW" >/dev/null ||
    broken "The backup's database could not be restored"
  set_fact archived_uuid "$(setting "$NEW" database.uuid)"
}

setting() { sql "$1" <<<"select value from ir_config_parameter where key = '$2'"; } # DATABASE KEY

# Files have their content's checksum as their name. Without its database, the archive's are added to those that are there.
build_filestore() {
  mkdir -p "$FILES"
  if [[ ${P[RESTORE_DATABASE]} != yes && -d $FILES/$DATABASE ]]; then
    cp -al "$FILES/$DATABASE" "$FILES/$NEW"
  else
    mkdir "$FILES/$NEW"
  fi
  mkdir "$JOB/work/unpacked"
  if grep -q '^filestore/.*[^/]$' <(unzip -Z1 "$ARCHIVE"); then
    # Beside where they will be, so that they are only moved.
    rm -rf "${FILES:?}/unpacked_$RESTORE"
    unzip -q "$ARCHIVE" 'filestore/*' -d "$FILES/unpacked_$RESTORE"
    cp -alf "$FILES/unpacked_$RESTORE/filestore/." "$FILES/$NEW/"
    rm -rf "${FILES:?}/unpacked_$RESTORE"
  fi
  chown -R --reference="$(dirname "$FILES")" "$FILES"
}

# Its files are there, its address is this instance's, and it is neutralized before it can be started.
finish_database() {
  if [[ ${P[RESTORE_FILESTORE]} == yes ]]; then
    require_listed_files
  else # the ERP makes those of its pages again
    sql "$NEW" <<<"delete from ir_attachment where url like '/web/assets/%'"
  fi
  sql "$NEW" -v "url=https://$DOMAIN" <<'SQL'
insert into ir_config_parameter (key, value) values ('web.base.url', :'url'), ('web.base.url.freeze', 'True')
on conflict (key) do update set value = excluded.value
SQL
  if [[ ${P[NEUTRALIZE]} == yes ]]; then neutralize "$NEW"; fi
  sql "$NEW" <<<"analyze" # a dump has no statistics
}

require_listed_files() {
  local missing known
  sql "$NEW" <<<"select distinct store_fname from ir_attachment where store_fname is not null" >"$JOB/work/listed"
  (cd "$FILES/$NEW" && find . -type f -printf '%P\n') >"$JOB/work/files"
  missing=$(missing_files "$JOB/work/listed" "$JOB/work/files" | wc -l)
  known=$(unzip -p "$ARCHIVE" manifest.json | jq '.missing_files // 0')
  ((missing <= known)) || corrupt "$missing files that its database lists are not in it, $known were missing when it was made"
}

swap() {
  set_fact "restores/$RESTORE" swapping
  docker stop -t 30 "$PROJECT" >/dev/null
  ensure_database_server
  if has_database "$NEW"; then
    end_connections "$DATABASE" "$NEW"
    { # both or neither
      echo "begin;"
      if has_database "$DATABASE"; then echo "alter database \"$DATABASE\" rename to \"$OLD\";"; fi
      echo "alter database \"$NEW\" rename to \"$DATABASE\"; commit;"
    } | sql postgres
  fi
  if [[ -d $FILES/$NEW ]]; then
    if [[ -d $FILES/$DATABASE ]]; then mv -T "$FILES/$DATABASE" "$FILES/$OLD"; fi
    if [[ ! -d $FILES/$OLD ]]; then mkdir "$FILES/$OLD"; fi
    mv -T "$FILES/$NEW" "$FILES/$DATABASE"
  fi
  set_fact "restores/$RESTORE" swapped
}

end_connections() { sql postgres <<<"select pg_terminate_backend(pid) from pg_stat_activity where datname in ('$1', '$2')" >/dev/null; }

# Before anything was swapped, what was built goes, and the ERP, which was never stopped, goes on.
job_put_back() {
  if [[ ! -d $HERE ]]; then return; fi
  name_restore
  local state
  state=$(fact "restores/$RESTORE")
  if [[ -z $state ]]; then return; fi
  ensure_database_server
  if [[ $state == swapping || $state == swapped || $state == undoing ]]; then
    set_fact "restores/$RESTORE" undoing
    docker stop -t 30 "$PROJECT" >/dev/null
    swap_back
    set_fact wanted stopped
    if [[ $(parameter START 'yes|no') == yes ]]; then
      set_fact wanted running
      start_erp
    fi
  fi
  forget_new
  rm -f "$HERE/restores/$RESTORE"
}

swap_back() {
  if has_database "$OLD"; then
    end_connections "$DATABASE" "$OLD"
    {
      echo "begin;"
      if has_database "$DATABASE"; then echo "alter database \"$DATABASE\" rename to \"$NEW\";"; fi
      echo "alter database \"$OLD\" rename to \"$DATABASE\"; commit;"
    } | sql postgres
  fi
  if [[ -d $FILES/$OLD ]]; then
    if [[ -d $FILES/$DATABASE ]]; then mv -T "$FILES/$DATABASE" "$FILES/$NEW"; fi
    mv -T "$FILES/$OLD" "$FILES/$DATABASE"
  fi
}

# A machine that was lost in the middle of a restore may be back when that was given up: half of the old data must not be served
# with half of the new, and what was built goes. A restore that is still being worked on is left to its own operation's jobs, and
# one that was swapped stands; what it replaced goes with the next restore.
settle_restores() {
  local place operation=${JOB##*/} kind
  kind=$(<"$JOB/kind")
  for place in "$HERE"/restores/*; do
    RESTORE=${place##*/}
    if [[ ! -e $place || $RESTORE == "${operation%%-*}" || $RESTORE == "${P[RESTORE_ID]:-}" ]]; then continue; fi
    name_data
    case $(fact "restores/$RESTORE") in
      swapping | undoing)
        ensure_database_server
        docker stop -t 30 "$PROJECT" >/dev/null
        swap_back
        forget_new
        rm -f "$place"
        if [[ $(fact wanted) == running ]]; then start_erp; fi
        ;;
      building | built)
        if [[ $kind == stop_erp ]]; then continue; fi # it must stop even if its database does not start
        ensure_database_server
        forget_new
        rm -f "$place"
        ;;
      swapped)
        if [[ $kind != restore_archive ]]; then continue; fi
        ensure_database_server
        drop_database "$OLD"
        rm -rf "${FILES:?}/$OLD"
        rm -f "$place"
        ;;
    esac
  done
}

job_drop_old() {
  require_installed
  name_restore
  require_database "$DATABASE"
  drop_old
  jq -cn --arg neutralized "$(setting "$DATABASE" database.is_neutralized)" '{ neutralized: ($neutralized == "true") }' | answer
}

drop_old() {
  ensure_database_server
  drop_database "$OLD"
  rm -rf "${FILES:?}/$OLD"
  if [[ ${P[KEEP_OLD]:-} != no ]]; then rm -f "$HERE/restores/$RESTORE"; fi # a restore that is run again must find that it was done
}
