# Imports: an archive from outside, which says of itself what it is. It is examined where drills are: in containers without a
# network, with a database server that holds nothing else and a role without privileges.

job_import_archive() {
  local known=$ARCHIVES/${P[SHA256]}.json bytes entries
  P[RESTORE_DATABASE]=yes P[RESTORE_FILESTORE]=yes P[OUTSIDE]=yes
  parameter ERP_VERSIONS '[0-9.]+( [0-9.]+)*' >/dev/null
  hold_drill
  P[ERP_VERSION]=$(version_at_hand) # any image of the ERP has the programs
  open_drill "${P[ERP_VERSION]}" community
  require_room_for_data
  bytes=$(jq '.dump_bytes + .file_bytes' "$known" | number)
  entries=$(jq .entries "$known" | number)
  UNPACK=(import "$bytes" "$entries")
  require_memory "$DRILL_DB_MB" "Examining an archive"
  start_drill_database
  examine
  remove_drill
}

version_at_hand() {
  local version
  for version in ${P[ERP_VERSIONS]}; do
    if docker image inspect "odoo:$version" >/dev/null 2>&1; then break; fi
  done
  if ! docker image inspect "odoo:$version" >/dev/null 2>&1; then version=${P[ERP_VERSIONS]%% *}; fi
  echo "$version"
}

VECTOR_ELSEWHERE='^type "?([A-Za-z0-9_]{1,63})\.(vector|halfvec|sparsevec)(\[\])?"? does not exist'
examine() {
  local status=0 error state version base modules
  with_archive unpack >"$JOB/work/said" || status=$?
  if ((status != 0)); then unusable "$status" "The throwaway files could not be written"; fi
  if [[ -e $JOB/work/not-loaded ]]; then
    error=$(load_error)
    state=${error:0:5}
    error=$(without_state "$error" | tr -cd '[:print:]\n' | head -c 300)
    # It has been created in public, by a superuser: make_extensions.
    if [[ $error =~ $VECTOR_ELSEWHERE && ${BASH_REMATCH[1]} != public ]]; then
      corrupt "its database has the extension vector in the schema ${BASH_REMATCH[1]}, but here it is in public: run ALTER EXTENSION vector SET SCHEMA public, and create the backup again"
    fi
    reject_lack "$state" "$error"
    corrupt "the database reports: $error"
  fi
  tail -n 1 "$JOB/work/report" >"$JOB/work/about"
  version=$(reported '.version | strings')
  # Not BACKUP_CORRUPT, which would remove the upload: the catalog may have the version tomorrow.
  [[ " ${P[ERP_VERSIONS]} " == *" $version "* ]] ||
    broken "The backup's archive cannot be used: it is of version $version, which the catalog does not have"
  ask sql <<<"select left(latest_version, 20) from ir_module_module where name = 'base'" >"$JOB/work/base" ||
    corrupt "its database is not an ERP's"
  base=$(head -c 100 "$JOB/work/base")
  [[ $base. == "$version".* ]] || corrupt "its database is not of version $version"
  ask sql <<<"select distinct store_fname from ir_attachment where store_fname is not null" >"$JOB/work/listed" ||
    corrupt "its database has no list of its files"
  files missing "$NEW" <"$JOB/work/listed" || files_failed "The restored files cannot be read"
  modules=$(modules_of_import "$version" "$(reported '.edition | strings')")
  jq -c --argjson modules "$modules" --argjson missing "$(reported_number missing_files)" --argjson listed "$(reported_number listed_files)" \
    '{ erp_version: .version, edition, database_name, missing_files: $missing, listed_files: $listed, left_out, modules: $modules }' "$JOB/work/about" | answer
}

# What the server's PostgreSQL lacks is no fault of the archive, which is kept: the operator may set another image. These are the
# SQLSTATEs of types, functions, relations and schemas that do not exist, of features and of syntax.
reject_lack() { # SQLSTATE MESSAGE
  local extensions version own
  [[ $1 =~ ^(42704|42883|42P01|3F000|0A000|42601)$ ]] || return 0
  extensions=$(reported '[.left_out[] | select(.kind == "extensions").names[] | capture("^CREATE EXTENSION (IF NOT EXISTS )?\"?(?<name>[\\w-]+)").name] | unique | join(", ")')
  if [[ -n $extensions && $1 != 42601 ]]; then
    broken "The backup's archive cannot be used: its database may need one of these extensions, which PostgreSQL does not have here: $extensions. Remove what uses it and create the backup again, or ask the operator of the service for the extension, and then try the import again. The database reports: $2"
  fi
  version=$(reported_number postgres)
  own=$(sql postgres <<<"show server_version_num" | number)
  if ((version > own / 10000)); then
    broken "The backup's archive cannot be used: its database is of PostgreSQL $version, but here it is restored to PostgreSQL $((own / 10000)). Ask the operator of the service for a newer one, and then try the import again. The database reports: $2"
  fi
}

# Compares with the image that an instance of that version would get here; prints null if it can't be pulled.
modules_of_import() { # VERSION EDITION
  local IMAGE=odoo:$1 VERSION=$1
  if (have_code "$2" >/dev/null); then
    differing_modules "$NEW" "$2"
  else
    rm -f "$JOB/failure"
    echo null
  fi
}

have_code() { # EDITION
  docker image inspect "$IMAGE" >/dev/null 2>&1 || pull_once "$IMAGE" || return 1
  if [[ $1 != enterprise || -d $ROOT/enterprise/$VERSION ]]; then return; fi
  [[ -n ${P[ENTERPRISE_URL]:-} ]] || return 1
  P[ENTERPRISE_URL]=${P[ENTERPRISE_URL]//'{version}'/$VERSION}
  fetch_enterprise "$VERSION"
}
