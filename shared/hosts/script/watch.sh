# What the machine's timer does once a minute, for 20 s at most (timer.sh). It is a small program of its own, because it runs so
# often.
#
# It looks whether each ERP that should run can be used, and writes a signed line, which the proxy serves at a secret path:
#
#   erp1 SERVER SEQUENCE FAULTS HMAC
#
# FAULTS is "-", or ID:WHAT:LOOKS for each ERP that cannot, separated by commas: WHAT is proxy, page, stylesheet or script, LOOKS
# how many looks of this run found that. While the machine has paused instances because its disk is almost full,
# "disk:paused:COUNT" is among them. SEQUENCE rises with each line. Below /var/lib/erp-hosting/watch: server, name (of the line's
# file), inner and outer (the HMAC's key, with its two paddings), sequence, faults (of the last run), proxy (its process, and when
# that began), and the files of sample.pl.

umask 077
export LC_ALL=C PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

ROOT=${ERP_HOSTING_ROOT:-/var/lib/erp-hosting}
WATCH=$ROOT/watch
PROBE_PORT=8079 # as in jobs.sh
AGAIN_SECONDS=2

# Further measurements that are taken once a minute belong here, except for that of the disk, which needs more time and memory
# (disk.sh). They may write to files in $WATCH, which report.sh sends with its next report.
watch() {
  exec 7>"$WATCH/lock"
  flock -n 7 || return 0
  sample || true # first, so that as much time is between two of them as between two runs
  look
  remove_old_redirects
  question_databases || true
}

# One sample of the machine's figures (sample.pl). Docker is asked only if a container is missing: it takes longer than the
# sample.
sample() {
  if [[ -e $WATCH/stale || ! -e $WATCH/containers ]]; then
    timeout 3 docker ps --no-trunc --filter label=com.docker.compose.project --format '{{.Names}} {{.ID}}' >"$WATCH/containers.draft" &&
      mv "$WATCH/containers.draft" "$WATCH/containers"
  fi
  timeout 5 perl "$WATCH/sample.pl"
}

# Once in ten minutes: how late the ERPs' scheduled jobs are, and how long their oldest transactions have lasted, in seconds. One
# after another, because each call of Docker's client takes ten of the unit's tasks, and in another order each time, because
# databases that do not respond use up the time.
SQL_SECONDS=2
RUN_SECONDS=16 # of the 20 after which systemd ends the run, so that the last call ends before
question_databases() {
  local id now
  printf -v now '%(%s)T' -1
  if ((now / 60 % 10 > 0)); then return; fi
  while read -r id _ && ((SECONDS < RUN_SECONDS)); do question_database "$id"; done < <(expected | shuf) >"$WATCH/slow.draft"
  mv "$WATCH/slow.draft" "$WATCH/slow"
}

# With the rights of the ERP alone, whose code may have put anything in the place of its tables: what is not two numbers is
# nothing.
question_database() { # INSTANCE
  local database='' seconds=''
  read -r database 2>/dev/null <"$ROOT/instances/$1/database" || true # this file ends without a line break
  if [[ -z $database ]]; then return; fi
  seconds=$(timeout "$((SQL_SECONDS + 1))" docker exec -e PGAPPNAME=erp-hosting "erp-$1-db" psql -XqAt -F ' ' -U odoo -d "$database" -c "
    set statement_timeout = '${SQL_SECONDS}s'; select
      (select greatest(0, coalesce(max(extract(epoch from now() at time zone 'UTC' - nextcall)), 0))::bigint from ir_cron where active),
      (select coalesce(max(extract(epoch from now() - xact_start)), 0)::bigint from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid())" 2>/dev/null </dev/null | head -c 100) || return 0
  if [[ $seconds =~ ^[0-9]{1,12}\ [0-9]{1,12}$ ]]; then echo "$1 $seconds"; fi
}

# A file's time is when it ends: proxy.sh.
remove_old_redirects() {
  local ended
  ended=$(find "$ROOT/caddy/etc/sites" -name '*.from-*.caddy' -mmin +0 -print -delete 2>/dev/null) || true
  if [[ -z $ended ]]; then return; fi
  timeout 10 docker exec erp-caddy caddy reload --config /etc/caddy/Caddyfile --adapter caddyfile >/dev/null 2>&1 || true
}

# An ERP that fails for the first time gets a second look, so that an outage is known a minute earlier.
look() {
  local before id what
  local -A looks=() faults=()
  before=" $(paste -sd' ' "$WATCH/faults" 2>/dev/null) " || true
  expected >"$WATCH/expected"
  faulty "$WATCH/expected" >"$WATCH/found"
  while read -r id what; do faults[$id]=$what looks[$id]=1; done <"$WATCH/found"
  write_line
  for id in "${!faults[@]}"; do
    if [[ $before != *" $id "* ]]; then grep "^$id " "$WATCH/expected"; fi
  done >"$WATCH/again"
  if [[ -s $WATCH/again ]]; then
    sleep "$AGAIN_SECONDS"
    faulty "$WATCH/again" >"$WATCH/found"
    while read -r id _; do unset "looks[$id]"; done <"$WATCH/again"
    while read -r id what; do faults[$id]=$what looks[$id]=2; done <"$WATCH/found"
    write_line
  fi
  printf '%s\n' "${!looks[@]}" >"$WATCH/faults"
}

# "ID DOMAIN" of the ERPs that are installed and started, and not paused (disk.sh).
expected() {
  local here id domain wanted
  for here in "$ROOT/instances"/*/; do
    id=${here%/} id=${id##*/} wanted='' domain=''
    read -r wanted <"$here/wanted" || true # these files end without a line break
    read -r domain <"$here/domain" || true
    if [[ $wanted == running && ! -e $here/paused && $id =~ ^[a-z0-9_]{1,50}$ && $domain =~ ^[a-z0-9.-]{1,253}$ ]]; then echo "$id $domain"; fi
  done 2>/dev/null
}

# Prints the ERPs of the list that can't be used, except those that a job works on.
faulty() { # FILE
  local proxy id what
  proxy=$(proxy_process) || return 1 # nobody knows: then there is no line
  if ((proxy > 0)); then faulty_pages "$proxy" "$PROBE_PORT" "$WATCH/pages" <"$1" >"$WATCH/faulty"; else sed 's/ .*/ proxy/' "$1" >"$WATCH/faulty"; fi
  while read -r id what; do
    if [[ ! -e $ROOT/locks/$id ]] || flock -n "$ROOT/locks/$id" true; then echo "$id $what"; fi
  done <"$WATCH/faulty"
}

# The proxy's process, or 0 if it does not run. Containers go on without Docker: while that does not respond, the process that it
# last named counts for as long as it lives. Fails if nobody knows: there may be another one by then.
proxy_process() {
  local said pid=0 since='' status=0
  if said=$(timeout 2 docker inspect -f '{{.State.Pid}}' erp-caddy 2>&1); then
    pid=${said##*$'\n'}
    [[ $pid =~ ^[0-9]{1,10}$ ]] || return 1
    echo "$pid $(began "$pid")" >"$WATCH/proxy"
  elif [[ ${said,,} != *"no such "@(object|container)* ]]; then
    read -r pid since 2>/dev/null <"$WATCH/proxy" || true
    if [[ -z $since || $(began "$pid") != "$since" ]]; then
      pgrep -x caddy >/dev/null || status=$?
      ((status == 1)) || return 1
      pid=0
    fi
  fi
  echo "$pid"
}

# When a process began, in the kernel's ticks; nothing if there is none.
began() { # PID
  local stat='' fields
  { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 0
  read -ra fields <<<"${stat##*) }" # its name may have blanks in it
  echo "${fields[19]}"
}

write_line() {
  local id list='' line last=0 sequence paused
  for id in "${!looks[@]}"; do list+="${list:+,}$id:${faults[$id]}:${looks[$id]}"; done
  paused=$(compgen -G "$ROOT/instances/*/paused" | wc -l) || true
  if ((paused > 0)); then list+="${list:+,}disk:paused:$((paused < 9 ? paused : 9))"; fi
  if [[ -s $WATCH/sequence ]]; then read -r last <"$WATCH/sequence"; fi
  printf -v sequence '%(%s)T' -1
  sequence=$((sequence > last ? sequence : last + 1)) # whatever the clock says
  echo "$sequence" >"$WATCH/sequence.draft" && mv "$WATCH/sequence.draft" "$WATCH/sequence"
  line="erp1 $(<"$WATCH/server") $sequence ${list:--}"
  echo "$line $(hmac "$line")" >"$WATCH/line"
  mv "$WATCH/line" "$ROOT/caddy/etc/status/$(<"$WATCH/name")"
}

# SHA-256 twice, by RFC 2104. openssl would need the key on its command line.
hmac() { # TEXT
  local inner outer
  inner=$({ cat "$WATCH/inner" && printf %s "$1"; } | sha256sum)
  outer=$({ cat "$WATCH/outer" && printf %b "$(sed 's/ .*//; s/../\\x&/g' <<<"$inner")"; } | sha256sum)
  echo "${outer%% *}"
}

watch
