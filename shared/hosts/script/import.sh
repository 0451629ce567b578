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

# Types, operator classes and access methods of pgvector, in their own schema.
OF_VECTOR='[ "](public\.)?((vector|halfvec|sparsevec)(_[a-z0-9]+_ops)?|bit_(hamming|jaccard)_ops|hnsw|ivfflat)(\[\])?"? .*does not exist'
OF_LOCALE='(^| )(collation|locale|ICU)'
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

# What the server's PostgreSQL lacks is no fault of the archive, which is kept: the operator may set another image.
reject_lack() { # SQLSTATE MESSAGE
  local version own
  if [[ $1 =~ ^(42704|42883)$ && $2 =~ $OF_VECTOR ]]; then
    broken "The backup's archive cannot be used: its database needs ${BASH_REMATCH[2]} of the extension vector (pgvector), which PostgreSQL does not have here, or only in an older version. Ask the operator of the service for a newer one, and then try the import again. The database reports: $2"
  fi
  # Types, functions, relations and schemas that do not exist, and features.
  if [[ $1 =~ ^(42704|42883|42P01|3F000|0A000)$ ]]; then reject_extensions "$2"; fi
  if [[ $1 =~ ^(42704|22023|0A000|42809)$ && $2 =~ $OF_LOCALE ]]; then
    broken "The backup's archive cannot be used: its database needs a collation or a locale that PostgreSQL does not have here. Ask the operator of the service for an image that has it, and then try the import again. The database reports: $2"
  fi
  version=$(reported_number postgres)
  own=$(sql postgres <<<"show server_version_num" | number)
  # Syntax errors, whatever is not defined or defined otherwise, features, and values of parameters.
  if ((version > own / 10000)) && [[ $1 =~ ^(42|0A|22023) ]]; then
    broken "The backup's archive cannot be used: its database is of PostgreSQL $version, but here it is restored to PostgreSQL $((own / 10000)). Ask the operator of the service for a newer one, and then try the import again. The database reports: $2"
  fi
}

# Extensions that were left out, which the server lacks or only a superuser can create: what failed may need one.
reject_extensions() { # MESSAGE
  local names available extensions untrusted
  names=$(reported '[.left_out[] | select(.kind == "extensions").names[] | capture("^CREATE EXTENSION (IF NOT EXISTS )?\"?(?<name>[\\w-]+)").name] | unique[]')
  available=$(sql postgres <<<"select name from pg_available_extensions")
  extensions=$(grep -vxF "$available" <<<"$names" | paste -sd, | sed 's/,/, /g') || true
  untrusted=$(grep -xF "$available" <<<"$names" | paste -sd, | sed 's/,/, /g') || true
  if [[ -n $extensions && -n $untrusted ]]; then
    broken "The backup's archive cannot be used: its database may need one of these extensions: PostgreSQL does not have $extensions here, and only a superuser can create $untrusted. Remove what uses it and create the backup again, or ask the operator of the service for the extension, and then try the import again. The database reports: $1"
  elif [[ -n $untrusted ]]; then
    broken "The backup's archive cannot be used: its database may need one of these extensions, which only a superuser can create here: $untrusted. Remove what uses it and create the backup again, or ask the operator of the service to let other roles create it, and then try the import again. The database reports: $1"
  elif [[ -n $extensions ]]; then
    broken "The backup's archive cannot be used: its database may need one of these extensions, which PostgreSQL does not have here: $extensions. Remove what uses it and create the backup again, or ask the operator of the service for the extension, and then try the import again. The database reports: $1"
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
