# The proxy in front of all instances, with a site for each.

serve() { # DOMAIN…: under these names and no others
  local sites=$CADDY/etc/sites names='' probed='' domain
  for domain in "$@"; do names+="${names:+, }$domain" probed+="${probed:+, }http://$domain:$PROBE_PORT"; done
  cp "$sites/$ID.caddy" "$JOB/work/site.before" 2>/dev/null || true
  # Of the session cookie, which the ERP sets without them, only our two attributes remain.
  cat >"$JOB/work/site" <<SITE
($PROJECT) {
	encode gzip
	header {
		Strict-Transport-Security max-age=31536000
		defer
	}
	@manager path /web/database*
	respond @manager 403
	@websocket path /websocket /websocket/*
	reverse_proxy @websocket $PROJECT:$(websocket_port)
	reverse_proxy $PROJECT:8069 {
		header_down Set-Cookie "(?i)^(session_id=.*?); *samesite=[a-z]+" "\$1"
		header_down Set-Cookie "(?i)^(session_id=.*?); *secure" "\$1"
		header_down Set-Cookie "^(session_id=.*)\$" "\$1; Secure; SameSite=Lax"
	}
}
$names {
	import $PROJECT
}
$probed {
	bind 127.0.0.1
	import $PROJECT
}
SITE
  mv "$JOB/work/site" "$sites/$ID.caddy"
  if ! reload_proxy; then
    rm "$sites/$ID.caddy"
    if [[ -e $JOB/work/site.before ]]; then mv "$JOB/work/site.before" "$sites/$ID.caddy"; fi
    broken "The proxy rejected the domain: another instance on the server may use it"
  fi
}

# The ERP's only process handles live connections if it has no workers.
websocket_port() { if [[ $(fact workers) == 0 ]]; then echo 8069; else echo 8072; fi; }

# Reports the error of a new configuration, and keeps the old one.
reload_proxy() { # [OPTION]
  (
    flock 6
    if ! is_running erp-caddy; then PROJECT=erp-caddy HERE=$CADDY compose up -d || exit 1; fi
    within 30 docker exec erp-caddy caddy version >/dev/null || exit 1
    join_networks
    docker exec erp-caddy caddy reload --config /etc/caddy/Caddyfile --adapter caddyfile "$@"
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
  local domain old=$DOMAIN
  require_installed
  domain=$(parameter DOMAIN '[a-z0-9.-]+')
  require_database "$DATABASE"
  if [[ $old != "$domain" ]]; then serve "$old" "$domain"; fi
  become moved "$domain"
  if is_running "$PROJECT"; then
    DOMAIN=$domain
    within 60 answers_page /web/login || broken "The ERP does not respond at its new domain"
  fi
  set_fact domain "$domain"
  serve "$domain"
}
