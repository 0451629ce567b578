# Rehearsals: before a deploy, its update runs on a copy of the database, or the ERP starts there with the new code.

# What the ERP updates and installs, as its options; nothing if there is nothing to do.
read_update() {
  UPDATE=$(parameter UPDATE '[A-Za-z0-9_,]*')
  INSTALL=$(parameter INSTALL '[A-Za-z0-9_,]*')
  UPDATES=(${UPDATE:+-u "$UPDATE"} ${INSTALL:+-i "$INSTALL"})
  MODULES_NAMED=$(head -c 300 <<<"${UPDATE:+$UPDATE${INSTALL:+,}}$INSTALL" | sed 's/,/, /g')
}

ONCE=(--stop-after-init --no-http --workers=0 --max-cron-threads=0)

# The drill's containers and its place, which the operation holds. The copy has no files, no network and no scheduled jobs.
job_rehearse_code() {
  local image dump=$JOB/work/dump dumping loading started edition database_image
  require_installed
  name_code
  require_fetched
  use_new_image
  image=$IMAGE
  read_update
  require_database "$DATABASE"
  edition=$(fact edition)
  database_image=$(fact "codes/$CODE/db_image")
  database_image=${database_image:-$(docker inspect -f '{{.Image}}' "$PROJECT-db")}
  exec 6>"$ROOT/locks/drill"
  flock 6
  touch "$JOB/drill"
  remove_drill
  require_memory_to_rehearse
  require_room_to_rehearse
  CODE_PROJECT=$PROJECT use_code "$CODE"
  (
    enter_drill "$image" "$database_image" "$edition"
    start_drill_database
  )
  make_pipe "$dump"
  client pg_dump --out "$dump" --no-owner --no-privileges --no-comments -f /out "$DATABASE" &
  dumping=$!
  (
    reenter_drill "$image"
    load_dump "$dump"
  ) &
  loading=$!
  wait_for_ends "$dump" "$dumping" "$loading"
  if ! wait "$dumping" || ! wait "$loading"; then
    require_alive "$DRILL-db" "The throwaway database server"
    broken "The database could not be copied for the rehearsal"
  fi
  started=$(date +%s)
  (
    reenter_drill "$image"
    rehearse "$edition"
  )
  echo "{\"duration_seconds\":$(($(date +%s) - started))}" | answer
  remove_drill
}

require_memory_to_rehearse() {
  local needed=$((DRILL_DB_MB + DRILL_ERP_MB)) free
  free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
  ((free >= needed)) ||
    broken "A rehearsal needs $needed MB of memory, but the server has $free MB free. To deploy all the same, set rehearse to false"
}

# A copy of the database, and what its update adds.
require_room_to_rehearse() {
  local needed free
  needed=$((2 * $(database_bytes) + RESERVE_BYTES))
  free=$(least_free "$(docker_root)")
  ((free >= needed)) ||
    broken "A rehearsal needs $(megabytes "$needed") MB on the disk, but the server has $(megabytes "$free") MB free. To deploy all the same, set rehearse to false"
}

enter_drill() { # IMAGE DATABASE-IMAGE EDITION: of the instance
  mkdir -p "$ROOT/drill"
  reenter_drill "$1"
  set_fact image "$1" # so that nobody removes it meanwhile
  set_fact db_image "$2"
  set_fact edition "$3"
  configure_drill
}

reenter_drill() { # IMAGE
  HERE=$ROOT/drill PROJECT=$DRILL DATABASE=drill NEW=drill IMAGE=$1 NETWORK=container:$DRILL-db DB_HOST=127.0.0.1 LOADER=''
}

rehearse() { # EDITION
  local enterprise=() status=0
  if [[ $1 == enterprise ]]; then enterprise=(-v "$ROOT/enterprise/$VERSION:/mnt/enterprise:ro"); fi
  # Without an update it starts the ERP all the same: code, packages and variables can keep it from that.
  docker run --name "$DRILL" --log-driver none --memory "${DRILL_ERP_MB}m" --memory-swap "${DRILL_ERP_MB}m" --cpu-shares 64 \
    --pids-limit 512 --oom-score-adj 1000 --cap-drop ALL --security-opt no-new-privileges --network "$NETWORK" --read-only \
    --tmpfs "/tmp:size=${TMP_MB}m,mode=1777" -v "${DRILL}_odoo:/var/lib/odoo" -v "$HERE/odoo.conf:/etc/odoo/odoo.conf:ro" \
    "${enterprise[@]}" "${CODE_OPTIONS[@]}" --entrypoint odoo "$IMAGE" -c /etc/odoo/odoo.conf -d drill "${UPDATES[@]}" "${ONCE[@]}" \
    "${CODE_ARGUMENTS[@]}" </dev/null 2>&1 | bounded || status=$?
  require_alive "$DRILL-db" "The throwaway database server"
  if ran_out_of_memory "$DRILL"; then broken "The throwaway ERP ran out of memory. To deploy all the same, set rehearse to false"; fi
  if ((${#UPDATES[@]} == 0 && status != 0)); then
    fail REHEARSAL_FAILED "The ERP did not start with the new code on a copy of the data, so it was left as it is"
  fi
  if ((status != 0)) || { ((${#UPDATES[@]} > 0)) && ! has_updated drill; }; then
    fail REHEARSAL_FAILED "The update failed on a copy of the data, so the ERP was left as it is. Modules: $MODULES_NAMED"
  fi
}

# The ERP leaves out modules that it does not find, and ends well.
has_updated() { # DATABASE
  local wanted count
  wanted=$(tr ',' '\n' <<<"$UPDATE,$INSTALL" | sed '/^$/d' | sort -u | wc -l)
  count=$(sql "$1" <<<"select (select count(*) from ir_module_module where state = 'installed' and name = any(string_to_array('$UPDATE,$INSTALL', ',')))
    - (select count(*) from ir_module_module where state in ('to install', 'to upgrade'))" | sed 's/^-.*/0/' | number)
  ((count == wanted))
}
