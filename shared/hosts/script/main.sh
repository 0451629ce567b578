# What the script was asked for.

main() {
  local domain old=$DOMAIN
  require_installed
  domain=$(parameter DOMAIN '[a-z0-9.-]+')
  require_database "$DATABASE"
  if [[ $old != "$domain" ]]; then serve "$old" "$domain"; fi
  become moved "$domain"
  if is_running "$PROJECT"; then
    DOMAIN=$domain
    within 60 answers_page /web/login || broken "The ERP does not answer by its new name"
  fi
  set_fact domain "$domain"
  serve "$domain"
}

# --- Backups

# The database first, the files second: a file is never removed as soon as it is not needed, but a new one is needed at once.
job_make_archive() {
  local work=$JOB/work files
  require_installed
  require_database "$DATABASE"
  files=$(filestores)/$DATABASE
  mkdir -p "$files"
  chown --reference="$(dirname "$(filestores)")" "$(dirname "$files")" "$files"
  require_room "$JOB" $(($(database_bytes) + $(du -sb "$files" | cut -f1))) "A backup of the ERP"
  rm -f "$JOB/archive.zip"
  docker exec -e PGAPPNAME=erp-hosting "$PROJECT-db" pg_dump -U odoo --no-owner --no-privileges "$DATABASE" |
    tee "$work/dump.sql" | attachments_of >"$work/listed"
  tail -n 20 "$work/dump.sql" | grep -q '^-- PostgreSQL database dump complete' || broken "The database could not be dumped completely"
  ln -s "$files" "$work/filestore"
  cd "$work"
  zip -q1r archive.zip dump.sql filestore || (($? == 18)) || broken "The archive could not be written" # 18: a file was removed meanwhile
  rm dump.sql
  unzip -Z1 archive.zip | sed -n 's:^filestore/::p' >"$work/files"
  manifest "$(missing_files "$work/listed" "$work/files")" >manifest.json
  zip -gq1 archive.zip manifest.json
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

missing_files() { comm -23 <(sort -u "$1") <(sort -u "$2") | wc -l; } # LISTED PRESENT

# As the ERP's own tools write it, and how many of the listed files were missing already.
manifest() { # MISSING
  local version server
  version=$(docker run --rm --entrypoint odoo "odoo:$VERSION" --version | awk '{ print $NF }')
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
  local archive number url checksum bytes
  archive=$JOBS/$(parameter ARCHIVE_JOB '[A-Za-z0-9_-]+')/archive.zip
  bytes=$(parameter PART_BYTES '[0-9]+')
  [[ -s $archive ]] || broken "The archive is not on the server any more"
  require_room "$JOB" "$bytes" "Sending a backup"
  while read -r number url checksum; do
    dd if="$archive" of="$JOB/work/part" bs=1M iflag=skip_bytes,count_bytes skip=$(((number - 1) * bytes)) count="$bytes" status=none
    printf 'url = "%s"\nheader = "x-amz-checksum-sha256: %s"\n' "$url" "$checksum" |
      curl --config - -fsS --retry 4 --retry-delay 3 --connect-timeout 20 --speed-limit 1000 --speed-time 60 \
        -T "$JOB/work/part" -o /dev/null || fail STORAGE_ERROR "The archive could not be sent to the store"
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
  ! unzip -Z "$1" | grep -q '^l' || corrupt "it has links"
  grep -qx dump.sql "$JOB/work/names" || corrupt "it has no database"
  version=$(unzip -p "$1" manifest.json | jq -er .major_version) || corrupt "it has no manifest"
  [[ $version == "${P[ERP_VERSION]}" ]] || corrupt "it is of version $version, not of ${P[ERP_VERSION]}"
}

# A database takes about as much again for its indexes.
require_room_for_data() {
  local bytes
  bytes=$(unzip -l "$ARCHIVE" | awk '$4 == "dump.sql" { sum += 2 * $1 } $4 ~ /^filestore\// { sum += $1 } END { printf "%.0f", sum }')
  require_room "$(docker_root)" "$bytes" "The backup's data"
}

# --- Restoring: beside the old, then swapped. How far it came is in restores/ID: building, built, swapping, swapped.

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
  NEW=new_$RESTORE OLD=old_$RESTORE FILES=$(filestores)
}

forget_new() {
  drop_database "$NEW"
  rm -rf "${FILES:?}/$NEW"
}

# Lines that only the newest clients know, \restrict and \unrestrict, are left out: the archive may come from another machine.
build_database() {
  sql postgres <<<"create database \"$NEW\" template template0 encoding 'UTF8' lc_collate 'C'"
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
    cp -aln "$FILES/unpacked_$RESTORE/filestore/." "$FILES/$NEW/"
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
}

require_listed_files() {
  local missing known
  sql "$NEW" <<<"select distinct store_fname from ir_attachment where store_fname is not null" >"$JOB/work/listed"
  (cd "$FILES/$NEW" && find . -type f -printf '%P\n') >"$JOB/work/files"
  missing=$(missing_files "$JOB/work/listed" "$JOB/work/files")
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

# --- Clones

job_neutralize() {
  require_installed
  require_database "$DATABASE"
  neutralize "$DATABASE"
}

# The ERP's own command skips modules that it does not find, and leaves the credentials of mail and payment.
neutralize() { # DATABASE
  odoo neutralize -c /etc/odoo/odoo.conf -d "$1" </dev/null || broken "The ERP could not be neutralized"
  sql "$1" <<'SQL'
do $$
declare
  place record;
begin
  for place in
    select table_name, column_name from information_schema.columns
    where table_schema = 'public' and table_name in ('ir_mail_server', 'fetchmail_server', 'payment_provider')
      and data_type in ('character varying', 'text') and is_nullable = 'YES'
      and column_name ~ '(pass|secret|token|key|signature|client_id|merchant|smtp_user)'
  loop
    execute format('update %I set %I = null', place.table_name, place.column_name);
  end loop;
  if to_regclass('fetchmail_server') is not null then update fetchmail_server set active = false; end if;
  if to_regclass('payment_provider') is not null then update payment_provider set state = 'disabled' where state <> 'disabled'; end if;
end $$;
update ir_mail_server set active = false where smtp_host is distinct from 'invalid';
SQL
}

job_personalize() {
  local domain
  require_installed
  require_database "$DATABASE"
  domain=$(parameter DOMAIN '[a-z0-9.-]+')
  become clone "$domain"
  set_fact domain "$domain"
  serve "$domain"
}

# Left out is what the ERP itself leaves on: the job that removes what it needs no more, and a mail server that leads nowhere.
job_verify_clone() {
  local crons mail fetch=0 uuid
  require_installed
  require_database "$DATABASE"
  crons=$(sql "$DATABASE" <<<"select count(*) from ir_cron where active and id not in
    (select res_id from ir_model_data where model = 'ir.cron' and module = 'base' and name = 'autovacuum_job')")
  mail=$(sql "$DATABASE" <<<"select count(*) from ir_mail_server where active and smtp_host is distinct from 'invalid'")
  if [[ $(sql "$DATABASE" <<<"select to_regclass('fetchmail_server') is not null") == t ]]; then
    fetch=$(sql "$DATABASE" <<<"select count(*) from fetchmail_server where active")
  fi
  uuid=$(setting "$DATABASE" database.uuid)
  jq -cn --arg neutralized "$(setting "$DATABASE" database.is_neutralized)" --argjson crons "$crons" --argjson servers "$((mail + fetch))" \
    --arg uuid "$uuid" --arg archived "$(fact archived_uuid)" --arg url "$(setting "$DATABASE" web.base.url)" '{
      is_neutralized: ($neutralized == "true"), active_crons: $crons, active_mail_servers: $servers,
      new_database_uuid: ($uuid != "" and $uuid != $archived), base_url: $url
    }' | answer
}

# --- The machine

job_prepare_host() {
  local server
  server=$(parameter SERVER_ID '[a-z0-9_]+')
  if command -v cloud-init >/dev/null; then timeout 300 cloud-init status --wait >/dev/null || true; fi # it may be installing, too
  install_programs
  install_docker
  if [[ -e $ROOT/server && $(<"$ROOT/server") != "$server" ]]; then remove_all_instances; fi
  echo "$server" >"$ROOT/server"
  if [[ ${P[FIREWALL]:-yes} == yes ]]; then raise_firewall; fi
  upgrade_unattended
  start_proxy
  pull postgres:16
  let_in "${P[SSH_KEYS]:-}"
  make_host_key | answer
}

install_programs() {
  local program missing=()
  for program in curl jq zip unzip; do command -v "$program" >/dev/null || missing+=("$program"); done
  if [[ ${P[FIREWALL]:-yes} == yes ]] && ! command -v nft >/dev/null; then missing+=(nftables); fi
  dpkg -s unattended-upgrades >/dev/null 2>&1 || missing+=(unattended-upgrades)
  install_packages "${missing[@]}"
}

install_packages() {
  if (($# == 0)); then return; fi
  local apt=(apt-get -o DPkg::Lock::Timeout=300 -qq)
  { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@"; } >/dev/null 9>&- ||
    broken "What the machine needs cannot be installed: $*"
}

install_docker() {
  if ! docker info >/dev/null 2>&1; then
    install_packages docker.io
    if [[ -d /run/systemd/system ]]; then systemctl enable --now docker; else service docker start 9>&-; fi
    within 60 docker info >/dev/null 2>&1 || broken "Docker does not start"
  fi
  if docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null; then return; fi
  if apt-cache show docker-compose-v2 >/dev/null 2>&1; then install_packages docker-compose-v2; else install_packages docker-compose; fi
}

# A table of our own: whatever else is on the machine, Docker's rules above all, stays as it is.
raise_firewall() {
  local place=$SYSTEM/etc/erp-hosting ports
  ports=$({ sshd -T 2>/dev/null | awk '$1 == "port" { print $2 }' || true; echo "${SSH_CONNECTION##* }"; } | sort -un | paste -sd, -)
  mkdir -p "$place"
  cat >"$place/firewall.nft" <<NFT
table inet erp_hosting
delete table inet erp_hosting
table inet erp_hosting {
  chain input {
    type filter hook input priority filter; policy drop;
    ct state established,related accept
    ct state invalid drop
    iif lo accept
    meta l4proto { icmp, ipv6-icmp } accept
    tcp dport { ${ports:-22}, 80, 443 } accept
    udp dport { 443, 546 } accept
  }
  # Containers are kept from the address at which the provider tells the machine about itself.
  chain forward {
    type filter hook forward priority filter - 1; policy accept;
    ip daddr 169.254.0.0/16 drop
  }
}
NFT
  nft -f "$place/firewall.nft"
  if [[ ! -d /run/systemd/system ]]; then return; fi
  cat >"$SYSTEM/etc/systemd/system/erp-firewall.service" <<UNIT
[Unit]
Description=Firewall of the ERP hosting
DefaultDependencies=no
Before=network-pre.target
Wants=network-pre.target
After=local-fs.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=$(command -v nft) -f $place/firewall.nft

[Install]
WantedBy=multi-user.target
UNIT
  systemctl daemon-reload
  systemctl enable --now erp-firewall
}

upgrade_unattended() {
  mkdir -p "$SYSTEM/etc/apt/apt.conf.d"
  printf 'APT::Periodic::%s "1";\n' Update-Package-Lists Unattended-Upgrade >"$SYSTEM/etc/apt/apt.conf.d/52erp-hosting"
  chmod 644 "$SYSTEM/etc/apt/apt.conf.d/52erp-hosting"
}

start_proxy() {
  local tls email=${P[ACME_EMAIL]:-}
  tls=$(parameter TLS 'acme|internal')
  [[ -z $email || $email =~ ^[^[:space:]\"{}]+$ ]] || broken "The machine was told no valid ACME_EMAIL"
  pull caddy:2
  mkdir -p "$CADDY/etc/sites" "$ROOT/locks"
  docker network inspect "$EDGE" >/dev/null 2>&1 || docker network create "$EDGE" >/dev/null
  {
    echo "{"
    if [[ -n $email ]]; then echo "	email $email"; fi
    if [[ $tls == internal ]]; then printf '\tlocal_certs\n\tskip_install_trust\n'; fi
    echo "}"
    echo "import /etc/caddy/sites/*.caddy"
  } >"$CADDY/etc/Caddyfile.draft"
  mv "$CADDY/etc/Caddyfile.draft" "$CADDY/etc/Caddyfile"
  cat >"$CADDY/compose.yaml" <<YAML
services:
  caddy:
    image: caddy:2
    container_name: erp-caddy
    restart: unless-stopped
    ports: ["80:80", "443:443", "443:443/udp"]
    volumes: ["./etc:/etc/caddy:ro", "data:/data", "config:/config"]
    networks: ["edge"]
    logging: { driver: json-file, options: { max-size: 10m, max-file: "3" } }
volumes:
  data: { name: erp-caddy_data }
  config: { name: erp-caddy_config }
networks:
  edge: { name: $EDGE, external: true }
YAML
  reload_proxy || broken "The proxy does not start: ports 80 and 443 must be free"
}

KEYS_BEGIN="# erp-hosting: the account's keys begin"
KEYS_END="# erp-hosting: the account's keys end"

# The account's keys are in a block of their own: the service's key, and any other, stays.
let_in() { # LINES
  local file=$SYSTEM/root/.ssh/authorized_keys
  mkdir -p "$(dirname "$file")"
  touch "$file"
  {
    sed "/^$KEYS_BEGIN\$/,/^$KEYS_END\$/d" "$file"
    if [[ -n $1 ]]; then printf '%s\n' "$KEYS_BEGIN" "$1" "$KEYS_END"; fi
  } >"$file.draft"
  mv "$file.draft" "$file"
}

# Only where the present one was made outside the machine. It is shown from adopt_host_key on.
make_host_key() {
  local key=$ROOT/host-key/ssh_host_ed25519_key
  if [[ ! -e $SYSTEM/etc/erp-hosting/one-time-host-key ]]; then
    echo '{"host_key":null}'
    return
  fi
  mkdir -p "$ROOT/host-key"
  if [[ ! -s $key.pub ]]; then
    rm -f "$key"
    ssh-keygen -q -t ed25519 -N '' -C '' -f "$key"
  fi
  jq -cn --arg key "$(cut -d' ' -f1,2 "$key.pub")" '{ host_key: $key }'
}

job_adopt_host_key() {
  local key=$ROOT/host-key/ssh_host_ed25519_key place=$SYSTEM/etc/ssh
  if [[ ! -s $key ]]; then return; fi
  cp "$key.pub" "$place/ssh_host_ed25519_key.pub"
  cp "$key" "$place/.adopted"
  mv "$place/.adopted" "$place/ssh_host_ed25519_key"
  find "$place" -maxdepth 1 -name 'ssh_host_*_key*' ! -name 'ssh_host_ed25519_key*' -delete
  if [[ -z $SYSTEM && -d /run/systemd/system ]]; then systemctl reload-or-restart ssh; else kill -HUP "$(<"$SYSTEM/run/sshd.pid")"; fi
  rm -f "$SYSTEM/etc/erp-hosting/one-time-host-key"
  rm -rf "$ROOT/host-key"
}

job_retire_host() {
  let_in ''
  remove_all_instances
  rm -f "$ROOT/server"
}

remove_all_instances() {
  local instance job
  for instance in "$INSTANCES"/*/; do
    if [[ -d $instance ]]; then remove_instance "$(basename "$instance")"; fi
  done
  docker rm -fv erp-caddy >/dev/null 2>&1 || true # it has the certificates of their domains
  docker volume rm erp-caddy_data erp-caddy_config >/dev/null 2>&1 || true
  rm -rf "${ARCHIVES:?}"/*
  for job in "$JOBS"/*/; do
    if [[ $job != "$JOB/" ]]; then rm -rf "$job"; fi
  done
}

main() {
  local command=${1:-} id=${2:-}
  [[ $command == probe || $id =~ ^[A-Za-z0-9_-]{1,120}$ ]] || refuse "usage: begin JOB KIND SECONDS | status JOB | end JOB | health INSTANCE | probe"
  case $command in
    begin) begin "$id" "$3" "$4" ;;
    status) status "$id" ;;
    run) run "$id" ;;
    end) end "$id" ;;
    health) health "$id" ;;
    probe) echo ok ;;
    *) refuse "There is no command that is called $command" ;;
  esac
}

main "$@"
