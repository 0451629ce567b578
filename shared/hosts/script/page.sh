# Whether an ERP can be used, as a browser sees it: its sign-in page, a stylesheet and a script of it. Whatever an ERP sends is
# hostile: time and size are limited, redirects are not followed, and nothing of it gets into a request but a path at the same
# ERP.

PAGE_SECONDS=4 FILE_SECONDS=3
PAGE_KB=256 # links are in the beginning

# Reads lines "ID DOMAIN", and prints "ID page", "ID stylesheet" or "ID script" for each ERP of which that does not load.
faulty_pages() { # PID PORT FOLDER: at a port in the network of this process; the folder is for this alone
  local pid=$1 port=$2 folder=$3 id domain path kind
  local -A domains=()
  rm -rf "$folder" && mkdir -p "$folder" || return 1
  while read -r id domain; do domains[$id]=$domain; done
  for id in "${!domains[@]}"; do echo "$id page ${domains[$id]} /web/login"; done |
    failed_requests "$pid" "$port" "$folder" >"$folder/failed" || return 1
  cat "$folder/failed"
  while read -r id _; do rm -f "$folder/$id.page"; done <"$folder/failed"
  if [[ ! -e $(compgen -G "$folder/*.page" | head -n 1) ]]; then return; fi
  links "$folder"/*.page | while read -r id kind path; do echo "$id $kind ${domains[$id]} $path"; done |
    failed_requests "$pid" "$port" "$folder" | sort -u -k1,1
}

# Requests all at once, a line "ID KIND DOMAIN PATH" each, and prints "ID KIND" for those that fail. Fails if it cannot find out.
failed_requests() { # PID PORT FOLDER
  local id kind domain path status code bytes to requests=0 responses=0 seconds
  while read -r id kind domain path; do
    to=/dev/null seconds=$FILE_SECONDS
    if [[ $kind == page ]]; then to=$3/$id.page seconds=$PAGE_SECONDS; fi
    if ((requests++ > 0)); then echo next; fi
    printf '%s\n' "url = \"http://127.0.0.1:$2$path\"" "header = \"Host: $domain\"" "output = \"$to\"" "max-time = $seconds" \
      "write-out = \"$id $kind %{exitcode} %{http_code} %{size_download}\\n\"" 'noproxy = "*"'
    if [[ $kind != page ]]; then echo 'range = "0-1023"'; fi
  done >"$3/requests"
  if ((requests == 0)); then return; fi
  {
    trap '' XFSZ # a file that is too large fails its own request, and no other
    ulimit -f "$PAGE_KB"
    nsenter -t "$1" -n curl -q -s -Z --parallel-immediate --parallel-max 300 --config "$3/requests" 2>/dev/null || true
  } >"$3/responses"
  while read -r id kind status code bytes; do
    responses=$((responses + 1))
    # 23: only the beginning of a page could be stored. 416: the file is empty. The proxy has an empty page for a domain that it
    # does not serve.
    if [[ $status =~ ^(0|23)$ && $code =~ ^([23]..|416)$ && "$kind $code $bytes" != "page 200 0" ]]; then continue; fi
    echo "$id $kind"
  done <"$3/responses"
  ((responses == requests))
}

# "ID stylesheet PATH" and "ID script PATH": the first of each that a page names. Those that the ERP generates come first: their
# files can be missing.
links() { # FILE…
  awk -v RS='"' '
    FNR == 1 { before = ""; id = FILENAME; sub(/.*\//, "", id); sub(/\.page$/, "", id) }
    {
      kind = before ~ /[ \t\n]href=$/ && /\.css([?].*)?$/ ? "stylesheet" : before ~ /[ \t\n]src=$/ && /\.js([?].*)?$/ ? "script" : ""
      before = length($0) > 20 ? substr($0, length($0) - 19) : $0
      if (kind == "" || length($0) > 500) next
      gsub(/&amp;/, "\\&")
      if ($0 !~ /^\/[A-Za-z0-9._~%?=&;:,+@-][A-Za-z0-9._~%\/?=&;:,+@-]*$/) next # //host is elsewhere
      if (!((id, kind) in path) || (/^\/web\/assets\// && path[id, kind] !~ /^\/web\/assets\//)) path[id, kind] = $0
    }
    END { for (key in path) { split(key, of, SUBSEP); print of[1], of[2], path[key] } }' "$@" </dev/null
}
