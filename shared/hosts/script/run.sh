# Starting and stopping an ERP, and whether it is well.

job_start_erp() {
  require_installed
  set_fact wanted running
  start_erp
}

job_stop_erp() {
  require_installed
  set_fact wanted stopped
  halt
  ! is_running "$PROJECT" || broken "The ERP does not stop"
}

job_restart_erp() {
  require_installed
  set_fact wanted running
  halt
  start_erp
}

# More than the ERP's own health page, which is well without a database: a page that needs it, through the proxy.
health() {
  local reason=''
  load "$1"
  [[ -n $DATABASE ]] || reason="The ERP is not on the server"
  [[ -n $reason ]] || is_running "$PROJECT-db" || reason="The database server does not run"
  [[ -n $reason ]] || is_running "$PROJECT" || reason="The ERP does not run"
  [[ -n $reason ]] || is_running erp-caddy || reason="The proxy does not run"
  [[ -n $reason ]] || answers_page /web/health || reason="The ERP does not answer"
  [[ -n $reason ]] || answers_page /web/login || reason="The ERP's login page cannot be shown"
  if [[ -z $reason ]]; then echo healthy=yes; else printf 'healthy=no\nreason=%s\n' "$(printf %s "$reason" | encoded)"; fi
}

answers_page() { # PATH
  local proxy
  proxy=$(docker inspect -f "{{(index .NetworkSettings.Networks \"$EDGE\").IPAddress}}" erp-caddy) || return 1
  curl -fs -m 4 -o /dev/null -H "Host: $DOMAIN" "http://$proxy:$PROBE_PORT$1"
}
