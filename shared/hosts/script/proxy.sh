# The proxy in front of all instances, with a site for each.

serve() { # DOMAIN…: under these names and no others
  local hash served=("$@")
  site "$@" >"$JOB/work/site"
  hash=$(sha256sum <"$JOB/work/site")
  with_proxy replace_site || broken "The proxy rejected the domain: another instance on the server may use it"
  set_fact served "$hash"
}

# Earlier versions of the script replace the site, and not the fact.
is_served() { # DOMAIN…
  local hash
  hash=$(site "$@" | sha256sum)
  [[ $(fact served) == "$hash" && $(sha256sum 2>/dev/null <"$CADDY/etc/sites/$ID.caddy") == "$hash" ]]
}

site() { # DOMAIN…
  local names='' probed='' domain to=$PROJECT:8069
  for domain in "$@"; do names+="${names:+, }$domain" probed+="${probed:+, }http://$domain:$PROBE_PORT"; done
  if has_buffer; then to=$PROJECT-buffer:8080; fi
  # The session cookie keeps only our two attributes; the ERP sets it without any.
  cat <<SITE
($PROJECT-session) {
	header_down Set-Cookie "(?i)^(session_id=.*?); *samesite=[a-z]+" "\$1"
	header_down Set-Cookie "(?i)^(session_id=.*?); *secure" "\$1"
	header_down Set-Cookie "^(session_id=.*)\$" "\$1; Secure; SameSite=Lax"
}
($PROJECT) {
	encode gzip
	header {
		Strict-Transport-Security max-age=31536000
		defer
	}
	@manager path /web/database*
	respond @manager 403
	@websocket path /websocket /websocket/*
	reverse_proxy @websocket $PROJECT:$(websocket_port) {
		import $PROJECT-session
	}
	reverse_proxy $to {
		import $PROJECT-session
	}
}
($PROJECT-log) {
	log {
		output file $(access_log "$ID") {
			roll_size 20MiB
			roll_keep 2
			roll_uncompressed
		}
		format filter {
			wrap json
			fields {
				request>uri regexp "[?].*" ""
				request>headers delete
				request>tls delete
				resp_headers delete
				user_id delete
			}
		}
	}
}
$names {
	import $PROJECT
	import $PROJECT-log
}
$probed {
	bind 127.0.0.1
	import $PROJECT
}
SITE
}

# In the proxy's volume, which every machine's proxy has. What clients send besides the path may be secret, and never gets there.
access_log() { echo "/data/log/$1.log"; } # INSTANCE

# On the machine: with those that it was before, the newest last.
access_logs() { # INSTANCE
  local folder
  folder=$(known_place)/volumes/erp-caddy_data/_data/log
  ls -tr -- "$folder/$1.log" "$folder/$1"-[0-9]*.log 2>/dev/null || true
}

# A site that the proxy rejects never becomes part of its configuration: if the job is killed then, the proxy could not load the
# other sites any more, and could not start.
replace_site() {
  local site=$CADDY/etc/sites/$ID.caddy before=$JOB/work/site.before
  accepts_site || return 1
  if [[ -e $site ]]; then cp "$site" "$before" || return 1; fi
  forget_redirects "$CADDY/etc/sites" "${served[@]}"
  mv "$JOB/work/site" "$site" || return 1
  if caddy reload Caddyfile; then return; fi
  rm "$site"
  if [[ -e $before ]]; then mv "$before" "$site"; fi
  return 1
}

# In a copy of the configuration: whether the proxy can read it with this site, and finds no domain twice.
accepts_site() {
  local check=$CADDY/etc/check
  rm -rf "$check" && cp -r "$CADDY/etc/sites" "$check" && cp "$JOB/work/site" "$check/$ID.caddy" &&
    forget_redirects "$check" "${served[@]}" &&
    sed 's|/etc/caddy/sites/|/etc/caddy/check/|' "$CADDY/etc/Caddyfile" >"$check/Caddyfile" &&
    caddy adapt check/Caddyfile >/dev/null
}

# Whoever takes a domain has it, whichever instance of the machine had it before.
forget_redirects() { # FOLDER DOMAIN…
  local folder=$1 domain
  shift
  for domain in "$@"; do rm -f "$folder"/*.from-"$domain".caddy; done
}

# Old domains of the instance lead to its present one, each by a site of its own, which watch.sh removes once the time of its file
# is over. Not for good: browsers would remember that after another instance has taken the domain.
redirect_old_domains() { # DOMAIN UNTIL…
  rm -f "$CADDY/etc/sites/$ID".from-*.caddy
  while (($# >= 2)); do
    if ! is_of_an_instance "$1" && (($2 > $(date +%s))); then
      printf '%s {\n\tredir https://%s{uri} 307\n}\n' "$1" "$DOMAIN" >"$JOB/work/redirect"
      touch -d "@$2" "$JOB/work/redirect"
      mv "$JOB/work/redirect" "$CADDY/etc/sites/$ID.from-$1.caddy"
    fi
    shift 2
  done
  if caddy reload Caddyfile; then return; fi
  rm -f "$CADDY/etc/sites/$ID".from-*.caddy # other sites must not be held up by them
  return 1
}

is_of_an_instance() { grep -qsxF "$1" "$INSTANCES"/*/domain; } # DOMAIN

# Those that other instances have taken elsewhere.
end_redirects() { # DOMAIN…
  local sites=$CADDY/etc/sites
  if ! compgen -G "$sites/*.from-*.caddy" >/dev/null; then return; fi
  forget_redirects "$sites" "$@"
  caddy reload Caddyfile
}

caddy() { docker exec erp-caddy caddy "$1" --config "/etc/caddy/$2" --adapter caddyfile "${@:3}"; } # COMMAND FILE [OPTION]

# The ERP's only process handles live connections if it has no workers.
websocket_port() { if [[ $(fact workers) == 0 ]]; then echo 8069; else echo 8072; fi; }

# Reports the error of a new configuration, and keeps the old one.
reload_proxy() { with_proxy caddy reload Caddyfile "$@"; } # [OPTION]

with_proxy() { # COMMAND…: with the proxy running, and no other job changing it
  (
    flock 6
    if ! is_running erp-caddy; then
      require_edge && PROJECT=erp-caddy HERE=$CADDY compose up -d || exit 1
    fi
    within 30 docker exec erp-caddy caddy version >/dev/null || exit 1
    join_networks
    "$@"
  ) 6>"$ROOT/locks/proxy"
}

# The proxy shares a network with each instance, and no instance with another. A new proxy is on none.
join_networks() {
  local network joined
  joined=" $(docker inspect -f '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}} {{end}}' erp-caddy)"
  for network in $(docker network ls --filter label=erp-hosting.edge --format '{{.Name}}'); do
    [[ $joined == *" $network "* ]] || docker network connect "$network" erp-caddy || true # one that is being removed
  done
}

# Removes the old name only when the ERP responds to the new one, as seen from this machine.
job_move_domain() {
  local domain old=$DOMAIN redirects
  require_installed
  domain=$(parameter DOMAIN '[a-z0-9.-]+')
  read -ra redirects <<<"$(parameter REDIRECTS '([a-z0-9.-]+ [0-9]{1,12} ?)*')"
  require_database "$DATABASE"
  if [[ $old != "$domain" ]]; then serve "$old" "$domain"; fi
  become moved "$domain"
  if is_running "$PROJECT"; then
    DOMAIN=$domain
    within 60 answers_page /web/login || broken "The ERP does not respond at its new domain"
  fi
  set_fact domain "$domain"
  serve "$domain"
  DOMAIN=$domain
  with_proxy redirect_old_domains "${redirects[@]}" || echo "The instance's old domains could not be redirected"
}
