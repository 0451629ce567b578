# The machine's own software: its reboot, its packages, its proxy, and the instances' database servers, within their major
# versions.

boot_id() { cat "$SYSTEM/proc/sys/kernel/random/boot_id"; }

# Dies with the reboot, and is begun again when the machine is back, which then has another boot ID.
job_reboot_host() {
  local before since here until downtime
  if [[ ! -s $JOB/boot ]]; then
    echo "$(boot_id) $(date +%s)" >"$JOB/boot.draft"
    sync "$JOB/boot.draft"
    mv "$JOB/boot.draft" "$JOB/boot"
    sync "$JOB"
  fi
  read -r before since <"$JOB/boot"
  if [[ $(boot_id) == "$before" ]]; then
    if reboot_machine; then sleep 300; fi
    broken "The machine does not reboot"
  fi
  require_docker
  until=$((SECONDS + 300)) # whether they are well is found out by who asked for this
  for here in "$INSTANCES"/*/; do
    if [[ ! -d $here ]]; then continue; fi
    load "$(basename "$here")"
    if [[ $(fact wanted) == running ]]; then within $((until > SECONDS ? until - SECONDS : 0)) answers_page /web/login || true; fi
  done
  ID='' # nothing of the last one is to be left as it should be
  downtime=$(($(date +%s) - since))
  echo "{\"downtime_seconds\":$((downtime > 0 ? downtime : 0))}" | answer # the clock may have been set back meanwhile
}

reboot_machine() { if [[ -z $SYSTEM && -d /run/systemd/system ]]; then systemctl reboot; else shutdown -r now; fi; }

# Configuration that somebody has changed stays. Services that need it restart with the next reboot, but for those that their
# packages restart: containers run on while Docker does.
job_update_host() {
  local apt=(apt-get -o DPkg::Lock::Timeout=600 -qq -y -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold)
  export NEEDRESTART_MODE=l
  {
    dpkg --force-confdef --force-confold --configure -a # what a killed try has left
    within 120 "${apt[@]}" update && "${apt[@]}" --with-new-pkgs upgrade
  } 9>&- || broken "The system's packages could not be updated"
  require_docker
}

job_update_proxy() {
  local before
  require_docker
  if [[ ! -s $JOB/proxy ]]; then docker inspect -f '{{.Image}}' erp-caddy >"$JOB/proxy" 2>/dev/null || echo none >"$JOB/proxy"; fi
  before=$(<"$JOB/proxy")
  renew caddy:2
  if [[ $(docker image inspect -f '{{.Id}}' caddy:2) != "$before" ]]; then
    if ! renew_proxy_container; then
      if [[ $before != none ]]; then docker tag "$before" caddy:2 && renew_proxy_container; fi
      broken "The proxy does not start with its newest image, so it has the previous one again"
    fi
    remove_unused_images
  fi
  # Each instance gets it with its database server (job_update_database). A machine without it runs ERPs without a buffer.
  if docker image inspect "$NGINX" >/dev/null 2>&1; then renew "$NGINX"; fi
}

# No ERP responds for some seconds. A new container is on no instance's network.
renew_proxy_container() {
  (
    flock 6
    require_edge && PROJECT=erp-caddy HERE=$CADDY compose up -d
  ) 6>"$ROOT/locks/proxy" && reload_proxy
}

# Until the ERP responds with it, db_before has the image that its database server had.
job_update_database() {
  local image responds=no downtime=null
  require_installed
  image=$(postgres_image)
  renew "$image"
  (
    flock 5
    new=$(newer_database_image "$image")
    if [[ $new != "$(fact db_image)" ]]; then
      set_fact db_before "$(fact db_image)"
      set_fact db_image "$new"
    fi
  ) 5>"$ROOT/locks/images"
  if [[ -n $(fact db_before) ]]; then
    if [[ $(fact wanted) != running ]]; then
      configure # its next start brings it
    else
      if [[ -e $HERE/stopped_at ]] || answers_page /web/login; then responds=yes; fi
      pause_erp
      if ! (start_with_database "$responds"); then
        put_database_back
        broken "The ERP does not respond with the newest image of its database server, so it has the previous one again"
      fi
      downtime=$(downtime)
    fi
    rm -f "$HERE/stopped_at" "$HERE/db_before"
    remove_unused_images
  elif [[ $(fact wanted) == running ]] && has_buffer; then
    renew_buffer
  fi
  echo "{\"downtime_seconds\":$downtime}" | answer
}

# The ERP runs on, without responding for a moment. Where it starts anew, it brings the newest image of its buffer itself.
renew_buffer() {
  local before responds=no
  before=$(docker inspect -f '{{.Image}}' "$PROJECT-buffer") || return 0 # it is down
  if [[ $(docker image inspect -f '{{.Id}}' "$NGINX") == "$before" ]]; then return; fi
  if answers_page /web/login; then responds=yes; fi
  if ! compose up -d --no-deps buffer || { [[ $responds == yes ]] && ! within 60 answers_page /web/login; }; then
    docker tag "$before" "$NGINX"
    compose up -d --no-deps buffer
    broken "The proxy does not start with its newest image, so it has the previous one again"
  fi
}

start_with_database() { # yes|no: whether the ERP responded before
  configure
  compose up -d db || return 1
  start_erp
  [[ $1 == no ]] || within 300 answers_page /web/login
}

# The minor versions of PostgreSQL have the same files: its data needs no undo.
put_database_back() {
  local before
  before=$(fact db_before)
  if [[ -z $before ]]; then return; fi
  set_fact db_image "$before"
  configure
  if [[ $(fact wanted) == running ]]; then
    compose up -d db
    start_erp
    within 120 answers_page /web/login || true
  fi
  rm -f "$HERE/stopped_at" "$HERE/db_before"
}

job_put_database_back() {
  if [[ -d $HERE ]]; then put_database_back; fi
}

# A machine that died in the middle of an update may come back after that was abandoned: see settle_restores.
settle_database() {
  case $(<"$JOB/kind") in
    update_database | put_database_back) ;;
    *) put_database_back ;;
  esac
}
