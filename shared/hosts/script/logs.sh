# What an ERP has logged, for people. A tenant writes it: nothing of it is code, a pattern or a path here, and all that is read of it is bounded.

LOG_SECONDS=2     # to read it
LOG_BYTES=1000000 # of its end
LINE_BYTES=8192   # of a line's beginning

# lines=: its end, each line behind the time when Docker got it, without secrets, compressed. installed=no without an ERP.
logs() { # INSTANCE erp SINCE UNTIL: times in UTC, or "-"
  local bounds=()
  load "$1"
  [[ $2 == erp ]] || reject "Unknown log: $2"
  [[ "$3 $4" =~ ^([0-9TZ:.-]{1,30} ?){2}$ ]] || reject "These are no times: $3 $4"
  if [[ $3 != - ]]; then bounds+=(--since "$3"); fi
  if [[ $4 != - ]]; then bounds+=(--until "$4"); fi
  if [[ -z $DATABASE ]]; then
    echo installed=no
    return
  fi
  echo "lines=$(container_log "${bounds[@]}" "$PROJECT" | bounded_log | nice sed -E -f <(redactions) | gzip -1 | encoded)"
}

# Docker keeps 30 MB of it. An ERP writes to both of its outputs.
container_log() { timeout "$LOG_SECONDS" docker logs --timestamps "$@" 2>&1 || true; } # [OPTION…] CONTAINER

# Nothing of a line whose beginning is missing, and of a long line no more than up to a place where no password is cut in two: what is left of a
# secret could not be found.
bounded_log() {
  cut -b "1-$((LINE_BYTES + 1))" | tail -c "$LOG_BYTES" | tr '\000' '\032' | awk -v max="$LINE_BYTES" '
    NR == 1 && !/^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9:.]+Z / { next }
    length($0) > max {
      end = substr($0, max - 255, 256)
      sub(/[^ ]*$/, "", end)
      $0 = substr($0, 1, max - 256) end "\342\200\246"
    }
    { print }'
}

# A script for sed: known secrets exactly, and by their form what shared/domain/redaction.ts removes again.
redactions() {
  secrets | while IFS= read -r secret; do
    if ((${#secret} >= 6)); then printf 's\001%s\001[redacted]\001g\n' "$(literally <<<"$secret")"; fi
  done
  local between='[A-Za-z0-9_-]{0,40}\\?["'\'']?\s{0,8}(=|:|%3[AD])\s{0,8}'
  local value='(\\"[^"]*("|$)|"([^"\\]|\\.)*("|$)|\\?'\''[^'\'']*('\''|$)|[^]'\''"&;,)}<>[:space:]]+)'
  local names='passw(or)?d|passphrase|secret|token|api[_-]?key|private[_-]?key|session[_-]?id'
  cat <<SED
s/((proxy-)?authorization|(set-)?cookie)(\\\\?["']?\s{0,8}(=|:)).*/\1\4 [redacted]/I
s/\b(bearer|basic)\s+[A-Za-z0-9._~+\/=-]{8,}/\1 [redacted]/Ig
s/(($names)$between)$value/\1[redacted]/Ig
s/\b(sid=)[^;&[:space:]]+/\1[redacted]/Ig
s/(token\s+)[A-Za-z0-9._~+\/=-]{16,}/\1[redacted]/Ig
s/(:\/\/)[^@\/[:space:]]{1,300}@/\1[redacted]@/g
s/\/[A-Za-z0-9_~+=-]{32,}/\/[redacted]/g
SED
}

# The passwords of the ERP and its database.
secrets() {
  sed -nE 's/^(db_password|admin_passwd) = //p' "$HERE/odoo.conf" 2>/dev/null || true
  sed -n 's/^POSTGRES_PASSWORD=//p' "$HERE/database.env" 2>/dev/null || true
}

# As a pattern of sed's.
literally() { sed -e 's/[^\\^]/[&]/g' -e 's/\\/&&/g' -e 's/\^/\\^/g'; }
