# What the machine reports about itself. A tenant writes nothing of what is read here: the kernel's figures, facts that root has
# written, and the proxy's certificates and log, and numbers (sample.pl). Docker may hang, so each call of it ends soon; without
# it the report has no certificates.

report() { # SINCE: of the samples, those after this time, in seconds
  local docker certificates line
  if [[ -e $ROOT/watch/ring ]]; then echo "figures=$(samples_since "${1:-0}" | gzip -9 | encoded)"; fi
  # As the proxy serves it: without the proxy, nobody would hear that the ERPs cannot be reached.
  if line=$(head -c 65536 "$CADDY/etc/status/$(cat "$ROOT/watch/name" 2>/dev/null)" 2>/dev/null); then echo "line=$(encoded <<<"$line")"; fi
  docker=$(timeout 2 docker info -f '{{.DockerRootDir}}' 2>/dev/null) || docker=''
  echo "disk_free_bytes=$(free_of_disk "$(least_free "$ROOT" ${docker:+"$docker"})" "${docker:-$ROOT}")"
  echo "disk_size_bytes=$(($(df --output=size -B1 "${docker:-$ROOT}" | tail -n 1)))"
  echo "instances=$(instances_on_disk | encoded)"
  awk '/^MemAvailable:/ { printf "memory_free_bytes=%.0f\n", $2 * 1024 }' /proc/meminfo
  # Written when an update of the system, such as a new kernel, takes effect only after one; /run is empty after it.
  if [[ -e $SYSTEM/run/reboot-required ]]; then echo needs_reboot=yes; else echo needs_reboot=no; fi
  if [[ -n $docker ]] && certificates=$(certificates); then echo "certificates=$(encoded <<<"$certificates")"; fi
}

# No more than its share of free inodes: without inodes nobody can use free bytes.
free_of_disk() { # BYTES DIRECTORY
  df --output=size,itotal,iavail -B1 "$2" | awk -v bytes="$1" '
    NR > 1 && $2 > 0 && $1 * $3 / $2 < bytes { bytes = $1 * $3 / $2 }
    END { printf "%.0f\n", bytes }'
}

# No more than the service unpacks: three hours of some 150 instances. Of more, the oldest are left out.
samples_since() { # SECONDS
  tail -n 180 "$ROOT/watch/ring" | awk -v since="$1" '/^{"t":[0-9]+,/ && substr($0, 6) + 0 > since + 0' | tail -c 4000000
}

# For each instance: when its domain's certificate expires, and whether it fails: it is for another domain, or the last attempt to
# get or renew it failed. Attempts fail as long as the domain has no DNS record; without a certificate that is only to be
# expected.
certificates() {
  local sites stored failed found
  sites=$(sites)
  stored=$(cut -d' ' -f2 <<<"$sites" | stored_certificates) || return 1
  failed=$(failed_domains) || return 1
  found=$({ grep -Fxf <(cut -d' ' -f2 <<<"$sites") <<<"$failed" || true; } | domains_with_records)
  jq -cn --rawfile sites <(echo "$sites") --rawfile stored <(echo "$stored") --rawfile failed <(echo "$failed") \
    --rawfile found <(echo "$found") '
    def rows: split("\n") | map(select(. != "") | split(" "));
    def names: rows | map({ (.[0]): true }) | add // {};
    ($failed | names) as $failed | ($found | names) as $found
    | ($stored | rows | map({ domain: .[0], expires_at: (.[1] | tonumber), matches: (.[2] == "yes") }) | group_by(.domain)
      | map(max_by([.matches, .expires_at]) | { (.domain): . }) | add // {}) as $stored
    | $sites | rows | map(.[1] as $domain | $stored[$domain] as $certificate | {
        instance_id: .[0], $domain, expires_at: $certificate.expires_at,
        failing: (if $certificate then $failed[$domain] or ($certificate.matches | not) else $failed[$domain] and $found[$domain] end)
      })'
}

# INSTANCE DOMAIN
sites() {
  local here id domain
  for here in "$INSTANCES"/*/; do
    id=$(basename "$here")
    domain=$(cat "$here/domain" 2>/dev/null) || continue
    if [[ $id =~ ^[a-z0-9_]{1,50}$ && $domain =~ ^[a-z0-9.-]{1,253}$ ]]; then echo "$id $domain"; fi
  done
}

# DOMAIN EXPIRES yes|no: what the proxy has stored for the domains on stdin, and whether it is for that domain.
stored_certificates() {
  local line domain='' pem='' described expires
  # shellcheck disable=SC2016 # for the shell in the container
  timeout 2 docker exec -i erp-caddy sh -c '
    while read -r domain; do
      for file in /data/caddy/certificates/*/"$domain/$domain.crt"; do
        [ ! -f "$file" ] || { echo "certificate of $domain"; sed "/^-----END/q" "$file"; echo; }
      done
    done' 2>/dev/null | head -c 4000000 | while IFS= read -r line; do
    case $line in
      "certificate of "*) domain=${line#certificate of } pem='' ;;
      *) pem+=$line$'\n' ;;
    esac
    if [[ $line != -----END* || ! $domain =~ ^[a-z0-9.-]{1,253}$ ]]; then continue; fi
    described=$(openssl x509 -noout -enddate -checkhost "$domain" <<<"$pem" 2>/dev/null) || true # not 0 for another domain, in newer versions
    [[ $described =~ notAfter=([A-Za-z0-9 :]+) ]] || continue
    expires=$(date -ud "${BASH_REMATCH[1]}" +%s 2>/dev/null) || continue
    if [[ $described == *"does match certificate"* ]]; then echo "$domain $expires yes"; else echo "$domain $expires no"; fi
  done
}

# Those for which the proxy's last attempt failed, as far as the end of its log reaches back. Half of it would end before an
# attempt that succeeded.
failed_domains() {
  { timeout 2 docker logs --tail 20000 erp-caddy 2>&1 || (($? != 124)); } | { grep -aF '"logger":"tls.' || true; } | tail -n 5000 | jq -Rrn '
    reduce (inputs | fromjson? | objects | select(.identifier | strings)) as { $logger, $msg, $identifier } ({};
      if $logger != "tls.obtain" and $logger != "tls.renew" then .
      elif $msg == "could not get certificate from issuer" then .[$identifier] = true
      elif $msg == "certificate obtained successfully" or $msg == "certificate renewed successfully" then del(.[$identifier])
      else . end)
    | keys[]'
}

# Those of the domains on stdin that have a DNS record.
domains_with_records() {
  # shellcheck disable=SC2016 # for the shells that xargs starts
  timeout 2 xargs -r -n 1 -P 16 sh -c 'if timeout 1 getent ahosts "$1." >/dev/null; then echo "$1"; fi' resolve || true
}
