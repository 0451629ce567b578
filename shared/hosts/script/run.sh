# Starting, stopping and checking an ERP.

job_start_erp() {
  require_installed
  set_fact wanted running
  start_erp
  hurry_certificate
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
  hurry_certificate
}

# The proxy retries less and less often, in the end after hours; whoever starts the ERP may just have pointed its domain to this
# machine.
hurry_certificate() {
  if [[ ! -e $CADDY/etc/sites/$ID.caddy || -n $(docker exec erp-caddy find /data/caddy/certificates -name "$DOMAIN.crt") ]]; then return; fi
  reload_proxy --force || true # the ERP runs all the same
}

# More than the ERP's own health page, which works without a database: a page that needs it, through the proxy.
health() {
  local reason=''
  load "$1"
  [[ -n $DATABASE ]] || reason="The ERP is not installed on the server"
  [[ -n $reason || ! -e $HERE/paused ]] || reason="The ERP is paused, because its server's disk is almost full"
  [[ -n $reason ]] || runs "$PROJECT-db" || reason="The database server is not running"
  [[ -n $reason ]] || runs "$PROJECT" || reason="The ERP is not running"
  [[ -n $reason ]] || runs erp-caddy || reason="The proxy is not running"
  [[ -n $reason ]] || answers_page /web/health || reason="The ERP does not respond"
  [[ -n $reason ]] || reason=$(fault_of_page)
  [[ -n $reason ]] || runs_scheduled_jobs || reason="The ERP no longer runs its scheduled jobs; restart it"
  if [[ -z $reason ]]; then
    printf 'healthy=yes\nunfinished=%s\nmodules=%s\n' "$(unfinished_modules | encoded)" "$(differing_modules "$DATABASE" "$(fact edition)" | encoded)"
  else
    printf 'healthy=no\nreason=%s\n' "$(printf %s "$reason" | encoded)"
  fi
}

# What of its sign-in page does not load, as a sentence; nothing if it can be used.
fault_of_page() {
  local proxy folder fault="page"
  folder=$(mktemp -d)
  proxy=$(docker inspect -f '{{.State.Pid}}' erp-caddy) && fault=$(echo "$ID $DOMAIN" | faulty_pages "$proxy" "$PROBE_PORT" "$folder/page") || fault=page
  rm -rf "$folder"
  sentence_on_page "${fault##* }"
}

sentence_on_page() { # WHAT
  case $1 in
    page) echo "The ERP does not show its sign-in page" ;;
    stylesheet | script) echo "The ERP shows its sign-in page, but a $1 of it does not load" ;;
  esac
}

# An installation that was killed, as by an earlier limit, leaves its modules between two states: the ERP has their fields, and no
# tables for them.
unfinished_modules() {
  sql "$DATABASE" <<<"set statement_timeout = '5s'; select left(name, 100) from ir_module_module
    where state in ('to install', 'to upgrade', 'to remove') order by name limit 50" | head -c 5000 || true
}

# Without workers, an ERP that lost its database has them no more. They wait for work on their own connection.
runs_scheduled_jobs() {
  [[ $(fact workers) != 0 ||
    -n $(sql postgres <<<"select 1 from pg_stat_activity where datname = 'postgres' and application_name like 'odoo-%' limit 1") ]]
}

answers_page() { # PATH
  local proxy
  proxy=$(docker inspect -f '{{.State.Pid}}' erp-caddy) || return 1
  nsenter -t "$proxy" -n curl -fs -m 4 -o /dev/null -H "Host: $DOMAIN" "http://127.0.0.1:$PROBE_PORT$1"
}
