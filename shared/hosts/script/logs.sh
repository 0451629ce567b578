# What an ERP, its database, its proxy and the jobs of an operation have logged, for people. Tenants and visitors write it:
# nothing of it is code, a pattern or a path here, and all that is read of it is bounded.

LOG_SECONDS=2     # to read it
LOG_BYTES=1000000 # of its end
LINE_BYTES=8192   # of a line's beginning

# lines=: its end, each line behind the time when Docker got it, without secrets, compressed; in the end "cut" if the log has more
# before these. installed=no without an ERP. Fails if there is no time to read up to the end: what is read is the oldest then.
logs() { # INSTANCE erp|database|proxy SINCE UNTIL: times in UTC, or "-"
  local lines
  load "$1"
  [[ $2 =~ ^(erp|database|proxy)$ ]] || reject "Unknown log: $2"
  [[ "$3 $4" =~ ^([0-9TZ:.-]{1,30} ?){2}$ ]] || reject "These are no times: $3 $4"
  if [[ -z $DATABASE ]]; then
    echo installed=no
    return
  fi
  lines=$(
    "${2}_log" "$3" "$4" | bounded_log | without_cut_secrets <(secrets) |
      nice sed -E -f <(redactions </dev/null | "in_${2}_log") | gzip -1 | encoded
    ((PIPESTATUS[0] != 124))
  ) || reject "The log could not be read in time"
  echo "lines=$lines"
}

erp_log() { container_log "$PROJECT" "$@"; } # SINCE UNTIL
database_log() { container_log "$PROJECT-db" "$@"; } # SINCE UNTIL
in_erp_log() { cat; }
in_database_log() { cat; }

# A script for sed: of a request only the path is redacted, and stays one word. What it ends with would otherwise hide what the
# proxy says behind it, and nobody would see the request.
in_proxy_log() {
  cat <<'SED'
/^cut$/b
h
s/^[^ ]+ [^ ]+ ([^ ]*) .*/\1/
SED
  cat
  cat <<'SED'
s/ //g
G
s/^([^\n]*)\n([^ ]+ [^ ]+) [^ ]* /\2 \1 /
SED
}

# A line for each request: TIME METHOD PATH STATUS MS BYTES CLIENT. A client chooses method and path: what is no printable ASCII,
# or ends a word, is "?" in them, and one that is empty is "-".
proxy_log() { # SINCE UNTIL
  local since=0 until=9999999999
  if [[ $1 != - ]]; then since=$(date -d "$1" +%s.%N) || return 0; fi
  if [[ $2 != - ]]; then until=$(date -d "$2" +%s.%N) || return 0; fi
  # shellcheck disable=SC2016 # of jq
  access_logs "$ID" | timeout "$LOG_SECONDS" xargs -r cat -- 2>/dev/null | requests_between "$since" "$until" | tail -c $((2 * LOG_BYTES)) |
    timeout "$LOG_SECONDS" jq -Rr '
      if . == "cut" then . else
      fromjson? | objects | select(.ts | type == "number")
      | def filled: if . == "" then "-" else . end;
      def word($length): tostring | gsub("[^!-~]"; "?") | .[:$length];
      [ (.ts | floor | todate[:19]) + "." + ((.ts * 1000 | floor) % 1000 + 1000 | tostring)[1:] + "Z",
        (.request.method | word(20) | filled),
        ((.request.uri | tostring | split("?")[0] // "" | word(8192)) + (.request.cut // "") | filled),
        (.status | word(3)), (.duration * 1000 | floor), (.size | word(20)), (.request.client_ip // .request.remote_ip | word(50)) ] | join(" ") end' 2>/dev/null
  [[ " ${PIPESTATUS[*]} " != *" 124 "* ]] || return 124
}

# Of the lines on stdin those between two times, in seconds; in the end "cut" if they are more than what is read of them. Of a
# long line only the fields that are shown, and of its path the beginning, cut as bounded_log cuts; otherwise a few requests would
# be all that is read, and hide the others. What a client sends has no quotes in JSON that could look like a field, and comes
# before the end's fields, at any length.
requests_between() { # SINCE UNTIL
  awk -v since="$1" -v until="$2" -v max="$LINE_BYTES" -v all=$((2 * LOG_BYTES)) -v cut="$CUT" '
    function field(text, name) {
      return match(text, "\"" name "\":(\"[^\"\\\\]*\"|[0-9.eE+-]+)") ? substr(text, RSTART, RLENGTH) : "\"" name "\":\"\""
    }
    # What a text in JSON begins with, without its quotes. Its escapes stay whole, which takes so long that it is less of such a
    # text.
    function beginning(text) {
      if (text !~ /["\\]/) return text
      text = substr(text, 1, max / 4)
      match(text, /^([^"\\]|\\[^u]|\\u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F])*/)
      return substr(text, 1, RLENGTH)
    }
    function method(at) {
      at = index($0, "\"method\":\"")
      return at ? beginning(substr($0, at + 10, 20)) : ""
    }
    # With the quote behind it, and the mark of a path that is cut.
    function path(at, text, part) {
      at = index($0, "\"uri\":\"")
      if (!at) return "\""
      text = beginning(substr($0, at + 7, max - 512))
      if (substr($0, at + 7 + length(text), 1) == "\"") return text "\""
      part = substr(text, length(text) - 255)
      text = substr(text, 1, length(text) - 256)
      text = match(part, /.*\//) ? text substr(part, 1, RLENGTH) : beginning(text)
      return text "\",\"cut\":\"" cut "\""
    }
    !match($0, /"ts":[0-9]+(\.[0-9]+)?/) { next }
    {
      at = substr($0, RSTART + 5, RLENGTH - 5) + 0
      if (at < since + 0 || at >= until + 0) next
    }
    length($0) > max {
      begin = substr($0, 1, 512)
      end = substr($0, length($0) - 511)
      $0 = "{" field(begin, "ts") "," field(end, "duration") "," field(end, "size") "," field(end, "status") ",\"request\":{" \
        field(begin, "remote_ip") "," field(begin, "client_ip") ",\"method\":\"" method() "\",\"uri\":\"" path() "}}"
    }
    {
      print
      bytes += length($0) + 1
    }
    END { if (bytes > all) print "cut" }'
}

# Docker keeps 30 MB of it, and reads them from the beginning unless it is asked for the last lines, of which none is shorter than
# 32 bytes with its time. An ERP writes to both of its outputs.
container_log() { # CONTAINER SINCE UNTIL
  local bounds=()
  if [[ $2 != - ]]; then bounds+=(--since "$2"); fi
  if [[ $3 != - ]]; then bounds+=(--until "$3"); else bounds+=(--tail $((LOG_BYTES / 32))); fi
  timeout "$LOG_SECONDS" docker logs --timestamps "${bounds[@]}" "$1" 2>&1
}

# lines=: what the jobs of an operation have logged, each behind a line "# KIND", the oldest first; in the end the number of all
# lines.
work_log() { # OPERATION
  local job jobs known=''
  mapfile -t jobs < <(ls -dtr "$JOBS/$1"-*/deadline 2>/dev/null)
  for job in "${jobs[@]%/deadline}"; do
    known+=$(secrets_of_job "$job")$'\n'
  done
  echo "lines=$(for job in "${jobs[@]%/deadline}"; do
    echo "# $(cat "$job/kind")"
    job_log "$job"
  done | sed -n 'p;$=' | bounded_log '^# ' | work_without_secrets "$known" | gzip -1 | encoded)"
}

work_without_secrets() { # SECRETS: a line each
  local HERE=''
  without_cut_secrets <(cat <<<"$1") | nice sed -E -f <(redactions <<<"$1" && echo "$URL_REDACTION")
}

# While the job runs, without a line that is being written: a secret in it cannot be found yet.
job_log() { # JOB
  local bytes
  if [[ -e $1/result ]]; then
    grep -a '' "$1/log" 2>/dev/null || true # ends the last line
  elif bytes=$(stat -c %s "$1/log" 2>/dev/null); then
    { head -c "$bytes" "$1/log" && echo; } | head -n -1
  fi
}

# All that is known of a job: what it was given, until it ends, and what its instance has. A line each.
secrets_of_job() { # JOB
  local HERE
  HERE=$INSTANCES/$(cat "$1/instance" 2>/dev/null || sed 's/^erp-//' "$1/looks_at" 2>/dev/null || echo none)
  secrets_given "$1" && secrets
}

# What a job that runs was given: passwords, addresses that are as good as one, and what code is fetched and runs with. A line
# each.
secrets_given() { # JOB
  local value
  encoded_secrets "$1" | while read -r value; do
    base64 -d <<<"$value" 2>/dev/null | tr '\0\n' '  ' || true
    echo
  done
}

encoded_secrets() { # JOB
  local line
  sed -nE 's/^[A-Z_]*(PASSWORD|SECRET|KEY|TOKEN|URL)[A-Z_]*=//p' "$1/parameters" 2>/dev/null || true
  { sed -nE 's/^(REPOSITORIES|ENVIRONMENT)=//p' "$1/parameters" 2>/dev/null || true; } | while read -r line; do
    base64 -d <<<"$line" | jq -r '.[] | (.credential.token?, (.credential.private_key? // "" | split("\n")[]), (select(.secret).value))
      | strings | @base64' 2>/dev/null || true
  done
}

# Everything after the path of a signed URL.
URL_REDACTION='s/(https?:\/\/[^?[:space:]]*\?)[^[:space:]]*/\1[redacted]/g'

CUT=$'\342\200\246' # the end of a line that was cut

# Of secrets, a line each, what removes them: the longest first, because another may be a part of it.
exactly() {
  local secret
  awk '!known[$0]++ { print length($0) "\t" $0 }' | sort -rn | cut -f 2- | while IFS= read -r secret; do
    if ((${#secret} < 6)); then continue; fi
    printf 's\001%s\001[redacted]\001g\n' "$(literally <<<"$secret")"
  done
}

# Of the text in front of the mark of a cut what a secret begins with, from six characters on: the cut may be within the secret.
without_cut_secrets() { # FILE of secrets, a line each
  awk -v file="$1" -v mark="$CUT" '
    # Where a text begins to end with the beginning of a secret; 0: nowhere.
    function remains(text, secret, at, step) {
      at = length(text) - length(secret)
      if (at < 0) at = 0
      while (step = index(substr(text, at + 1), substr(secret, 1, 6))) {
        at += step
        if (substr(text, at) == substr(secret, 1, length(text) - at + 1)) return at
      }
      return 0
    }
    BEGIN { while ((getline secret <file) > 0) if (length(secret) >= 6) secrets[secret] }
    {
      parts = split($0, part, mark)
      if (parts > 1) {
        text = substr($0, 1, length($0) - length(mark part[parts]))
        first = 0
        for (secret in secrets) {
          at = remains(text, secret)
          if (at && (!first || at < first)) first = at
        }
        if (first) $0 = substr(text, 1, first - 1) "[redacted]" mark part[parts]
      }
      print
    }'
}

# Nothing of a line whose beginning is missing, because the end of a secret could not be found, and of a long line the beginning,
# up to a blank if there is one near. "cut" in the end if there is more before.
bounded_log() { # [PATTERN that a line begins with: then without that end]
  local begins=${1:-^[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9:.]+Z }
  cut -b "1-$((LINE_BYTES + 1))" | tail -c "$LOG_BYTES" | tr '\000' '\032' | awk -v max="$LINE_BYTES" -v begins="$begins" -v cut="$CUT" \
    -v tells="$(($# == 0))" -v all="$LOG_BYTES" '
    { bytes += length($0) + 1 }
    NR == 1 && $0 !~ begins { next }
    length($0) > max {
      end = substr($0, max - 255, 256)
      sub(/[^ ]*$/, "", end)
      $0 = substr($0, 1, max - 256) end cut
    }
    { print }
    END { if (tells && bytes >= all) print "cut" }'
}

# A script for sed: known secrets exactly, with those on stdin, and by their form what shared/domain/redaction.ts removes again.
redactions() {
  { cat && secrets; } | exactly
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
s/\/([A-Za-z0-9_~+=-]*\.)*[A-Za-z0-9_~+=-]{32,}(\.[A-Za-z0-9_~+=-]*)*/\/[redacted]/g
SED
}

# The passwords of the ERP and its database, and what its code was given as a secret.
secrets() {
  cat "$HERE"/codes/*/variables 2>/dev/null | jq -r '.[] | select(.secret).value' 2>/dev/null || true
  sed -nE 's/^(db_password|admin_passwd) = //p' "$HERE/odoo.conf" 2>/dev/null || true
  sed -n 's/^POSTGRES_PASSWORD=//p' "$HERE/database.env" 2>/dev/null || true
}

# As a pattern of sed's.
literally() { sed -e 's/[^\\^]/[&]/g' -e 's/\\/&&/g' -e 's/\^/\\^/g'; }
