# Clones: neutralize them, give them their own identity, verify them.

job_neutralize() {
  require_installed
  require_database "$DATABASE"
  neutralize "$DATABASE"
}

# The ERP's own command skips modules that it does not find, and leaves the credentials for email and payment.
neutralize() { # DATABASE
  odoo neutralize -c /etc/odoo/odoo.conf -d "$1" </dev/null || broken "The ERP could not be neutralized"
  sql "$1" <<'SQL'
do $$
declare
  place record;
begin
  for place in
    select table_name, column_name from information_schema.columns
    where table_schema = 'public' and table_name in ('ir_mail_server', 'fetchmail_server', 'payment_provider')
      and data_type in ('character varying', 'text') and is_nullable = 'YES'
      and column_name ~ '(pass|secret|token|key|signature|client_id|merchant|smtp_user)'
  loop
    execute format('update %I set %I = null', place.table_name, place.column_name);
  end loop;
  if to_regclass('fetchmail_server') is not null then update fetchmail_server set active = false; end if;
  if to_regclass('payment_provider') is not null then update payment_provider set state = 'disabled' where state <> 'disabled'; end if;
end $$;
update ir_mail_server set active = false where smtp_host is distinct from 'invalid';
SQL
}

job_personalize() {
  local domain
  require_installed
  require_database "$DATABASE"
  domain=$(parameter DOMAIN '[a-z0-9.-]+')
  parameter RESET_USERS 'yes|no' >/dev/null
  parameter KEEP_UUID 'yes|no' >/dev/null
  become clone "$domain" # whose sessions are not in the backup: they are no part of the filestore
  set_fact domain "$domain"
  serve "$domain"
}

# Ignores what the ERP itself leaves on: its cleanup job, and a mail server without an address.
job_verify_clone() {
  local crons mail fetches fetch=0 uuid
  require_installed
  require_database "$DATABASE"
  crons=$(number < <(sql "$DATABASE" <<<"select count(*) from ir_cron where active and id not in
    (select res_id from ir_model_data where model = 'ir.cron' and module = 'base' and name = 'autovacuum_job')"))
  mail=$(number < <(sql "$DATABASE" <<<"select count(*) from ir_mail_server where active and smtp_host is distinct from 'invalid'"))
  fetches=$(sql "$DATABASE" <<<"select to_regclass('fetchmail_server') is not null")
  if [[ $fetches == t ]]; then
    fetch=$(number < <(sql "$DATABASE" <<<"select count(*) from fetchmail_server where active"))
  fi
  uuid=$(setting "$DATABASE" database.uuid)
  jq -cn --arg neutralized "$(setting "$DATABASE" database.is_neutralized)" --argjson crons "$crons" --argjson servers "$((mail + fetch))" \
    --arg uuid "$uuid" --arg archived "$(fact archived_uuid)" --arg url "$(setting "$DATABASE" web.base.url)" '{
      is_neutralized: ($neutralized == "true"), active_crons: $crons, active_mail_servers: $servers,
      new_database_uuid: ($uuid != "" and $uuid != $archived), base_url: $url
    }' | answer
}
