# The timer that runs watch.sh once a minute, and the site that serves its line. A machine that was prepared by an earlier version
# of the script gets them with its next job.

keep_watch() {
  if [[ -z ${P[STATUS_KEY]:-} || ! -e $CADDY/etc/Caddyfile ]]; then return; fi
  (flock 3 && install_watch) 3>"$ROOT/locks/watch" || echo "The timer that watches the ERPs could not be set up"
}

# Called where errors do not end the script.
install_watch() {
  local watch=$ROOT/watch server key name
  server=$(parameter STATUS_SERVER '[a-z0-9_]+') && key=$(parameter STATUS_KEY '[0-9a-f]{128}') &&
    name=$(parameter STATUS_NAME '[0-9a-f]{32}') || return 1
  mkdir -p "$watch" "$CADDY/etc/status" &&
    echo "$server" | replace "$watch/server" && echo "$name" | replace "$watch/name" &&
    padded "$key" 0x36 | replace "$watch/inner" && padded "$key" 0x5c | replace "$watch/outer" &&
    watch_program | replace "$watch/watch.sh" && sample_program | replace "$watch/sample.pl" || return 1
  find "$CADDY/etc/status" -type f ! -name "$name" -delete
  serve_status && start_timer
}

# Changes a file only if it is another one.
replace() { # FILE: its contents on stdin
  cat >"$1.draft" || return 1
  if cmp -s "$1.draft" "$1"; then rm "$1.draft"; else mv "$1.draft" "$1"; fi
}

# The key of an HMAC, as long as a block of its hash, with each byte changed as for its first or second round.
padded() { # HEX BYTE
  local place bytes='' byte
  for ((place = 0; place < ${#1}; place += 2)); do
    printf -v byte '\\x%02x' $((0x${1:place:2} ^ $2))
    bytes+=$byte
  done
  printf %b "$bytes"
}

# By HTTP, at the machine's address: the line is signed, and no secret. Sites go before it.
status_site() {
  cat <<'SITE'
http:// {
	root * /etc/caddy/status
	file_server
}
SITE
}

serve_status() {
  local served=()
  if [[ $(cat "$CADDY/etc/sites/status.caddy" 2>/dev/null) == "$(status_site)" ]]; then return; fi
  status_site >"$JOB/work/site" && ID=status with_proxy replace_site
}

start_timer() {
  local units=$SYSTEM/etc/systemd/system before
  mkdir -p "$units"
  before=$(cat "$units/erp-watch.service" "$units/erp-watch.timer" 2>/dev/null)
  watch_service | replace "$units/erp-watch.service" && watch_timer | replace "$units/erp-watch.timer" || return 1
  if [[ ! -d /run/systemd/system ]]; then return; fi
  if [[ $before != "$(watch_service && watch_timer)" ]]; then systemctl daemon-reload; fi
  systemctl -q is-active erp-watch.timer || systemctl enable --now erp-watch.timer
}

# Nothing of it stays: what is still running at the end, or after 20 s, is killed.
watch_service() {
  cat <<UNIT
[Unit]
Description=Looks whether the ERPs can be used, and measures them
RequiresMountsFor=$ROOT

[Service]
Type=oneshot
ExecStart=/bin/bash $ROOT/watch/watch.sh
TimeoutStartSec=20
CPUQuota=20%
MemoryMax=64M
TasksMax=64
IOSchedulingClass=idle
Nice=5
UNIT
}

watch_timer() {
  cat <<UNIT
[Unit]
Description=Looks once a minute whether the ERPs can be used, and measures them

[Timer]
OnActiveSec=1
OnUnitActiveSec=60
AccuracySec=1

[Install]
WantedBy=timers.target
UNIT
}

forget_watch() {
  local units=$SYSTEM/etc/systemd/system
  if [[ -d /run/systemd/system && -e $units/erp-watch.timer ]]; then systemctl disable --now erp-watch.timer; fi
  rm -f "$units/erp-watch.timer" "$units/erp-watch.service" "$CADDY/etc/sites/status.caddy"
  rm -rf "$ROOT/watch" "$CADDY/etc/status"
}
