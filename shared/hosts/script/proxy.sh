# The proxy in front of all instances: a site for each.

serve() { # DOMAIN…: under these names and no others
  local sites=$CADDY/etc/sites names='' domain websocket=8072
  if [[ $(fact workers) == 0 ]]; then websocket=8069; fi
  for domain in "$@"; do names+="${names:+, }$domain, http://$domain:$PROBE_PORT"; done
  cp "$sites/$ID.caddy" "$JOB/work/site.before" 2>/dev/null || true
  cat >"$JOB/work/site" <<SITE
$names {
	encode gzip
	@manager path /web/database*
	respond @manager 403
	@websocket path /websocket /websocket/*
	reverse_proxy @websocket $PROJECT:$websocket
	reverse_proxy $PROJECT:8069
}
SITE
  mv "$JOB/work/site" "$sites/$ID.caddy"
  if ! reload_proxy; then
    rm "$sites/$ID.caddy"
    if [[ -e $JOB/work/site.before ]]; then mv "$JOB/work/site.before" "$sites/$ID.caddy"; fi
    broken "The proxy does not take the domain: another instance on the server may have it"
  fi
}

# What is wrong with a new configuration is told, and the old one stays.
reload_proxy() { # [OPTION]
  (
    flock 6
    if ! is_running erp-caddy; then PROJECT=erp-caddy HERE=$CADDY compose up -d || exit 1; fi
    within 30 docker exec erp-caddy caddy version >/dev/null || exit 1
    docker exec erp-caddy caddy reload --config /etc/caddy/Caddyfile --adapter caddyfile "$@"
  ) 6>"$ROOT/locks/proxy"
}

# The old name goes only when the ERP answers by the new one, as seen from this machine.
job_move_domain() {
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
