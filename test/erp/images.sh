#!/usr/bin/env bash
# Images by the official names (odoo:19.0, pgvector/pgvector:pg16, caddy:2, nginx:1.28), built from Debian's archive where no
# registry is reached. They have the official ones' users, paths, ports and variables. The ERP is the real 19.0; PostgreSQL is
# the release's own, with an extension that is called vector and has its type, but can do nothing with it: the release has no
# pgvector.
#
#   images.sh FOLDER     DOCKER_HOST names the Docker that gets them; minutes the first time, nothing if they are there
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
RELEASE=bookworm
FOLDER=$1
mkdir -p "$FOLDER"
cd "$FOLDER"

main() {
  local image name missing=()
  for image in pgvector/pgvector:pg16 odoo:19.0 caddy:2 nginx:1.28; do docker image inspect "$image" >/dev/null 2>&1 || missing+=("$image"); done
  if ((${#missing[@]} == 0)); then return; fi
  # shellcheck disable=SC2016 # apt's own placeholder
  MIRROR=$(apt-get indextargets --format '$(REPO_URI)' | grep -E '/debian/?$' | sort -u | head -n 1)
  base
  for image in "${missing[@]}"; do
    rm -rf build
    mkdir build
    name=${image%%:*}
    "${name##*/}_files"
    docker build -q --network host -t "$image" build >/dev/null
    echo "built $image"
  done
}

base() {
  if docker image inspect erp-base >/dev/null 2>&1; then return; fi
  rm -rf base
  debootstrap --variant=minbase "$RELEASE" base "$MIRROR" >debootstrap.log
  tar -C base -c . | docker import - erp-base >/dev/null
  rm -rf base
}

# The beginning of each: what Debian packages it needs.
from_packages() {
  echo "FROM erp-base"
  echo "RUN echo 'deb $MIRROR $RELEASE main' >/etc/apt/sources.list && apt-get -qq update && \\"
  echo "  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $* >/dev/null && rm -rf /var/lib/apt/lists/*"
}

pgvector_files() {
  {
    from_packages postgresql-15
    cat <<'DOCKERFILE'
ENV PG_MAJOR=15 PATH=/usr/lib/postgresql/15/bin:$PATH PGDATA=/var/lib/postgresql/data LANG=C.UTF-8
COPY start /usr/local/bin/docker-entrypoint.sh
COPY vector* /usr/share/postgresql/15/extension/
VOLUME /var/lib/postgresql/data
EXPOSE 5432
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
DOCKERFILE
  } >build/Dockerfile
  printf "default_version = '0.8.0'\nrelocatable = true\nsuperuser = true\n" >build/vector.control
  echo "create domain vector as real[];" >build/vector--0.8.0.sql
  cat >build/start <<'START'
#!/bin/bash
# As root: gives the folders to postgres and goes on as it. The first time: makes the cluster.
set -eu
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /run/postgresql
  chown -R postgres "$PGDATA" /run/postgresql
  exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  [ -n "${POSTGRES_PASSWORD:-}" ] || { echo "POSTGRES_PASSWORD is needed" >&2; exit 1; }
  initdb -U "$POSTGRES_USER" --pwfile=<(printf %s "$POSTGRES_PASSWORD") -A scram-sha-256 --auth-local=trust -E UTF8 --locale=C.UTF-8 >/dev/null
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  if [ "${POSTGRES_DB:-$POSTGRES_USER}" != postgres ]; then
    pg_ctl -w -o "-c listen_addresses=''" start >/dev/null
    psql -qU "$POSTGRES_USER" -d postgres -c "create database \"${POSTGRES_DB:-$POSTGRES_USER}\""
    pg_ctl -w stop >/dev/null
  fi
fi
exec "$@" -c "listen_addresses=*"
START
  chmod 755 build/start
}

# The ERP's package is unpacked, not installed: the release has no package of this version, and its libraries do.
odoo_files() {
  local folder=$PWD/apt options
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $MIRROR sid main" >"$folder/sources.list"
  options=(-qq -o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$folder/lists"
    -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update
  (cd build && apt-get "${options[@]}" download odoo-19 fonts-montserrat)
  {
    from_packages python3 python3-{asn1crypto,babel,cbor2,chardet,cryptography,dateutil,docutils,freezegun,geoip2,gevent,greenlet,idna} \
      python3-{jinja2,libsass,lxml,magic,markupsafe,num2words,ofxparse,openpyxl,openssl,passlib,pil,polib,psutil,psycopg2,pypdf} \
      python3-{qrcode,reportlab,requests,rjsmin,serial,setuptools,stdnum,tz,urllib3,usb,vobject,werkzeug,xlrd,xlsxwriter,xlwt,zeep} \
      gsfonts fonts-{dejavu-core,font-awesome,inconsolata,ocr-b,roboto-unhinted} libjs-{jquery,jquery-form,underscore} postgresql-client-15 wkhtmltopdf
    cat <<'DOCKERFILE'
COPY *.deb /tmp/
RUN for each in /tmp/*.deb; do dpkg-deb -x "$each" /; done && rm /tmp/*.deb && \
  useradd -r -m -d /var/lib/odoo -s /bin/bash odoo && mkdir -p /etc/odoo /mnt/extra-addons && chown odoo /var/lib/odoo /mnt/extra-addons
ENV ODOO_RC=/etc/odoo/odoo.conf LANG=C.UTF-8 QT_QPA_PLATFORM=offscreen
VOLUME ["/var/lib/odoo", "/mnt/extra-addons"]
EXPOSE 8069 8071 8072
USER odoo
CMD ["odoo"]
DOCKERFILE
  } >build/Dockerfile
}

nginx_files() {
  {
    from_packages nginx
    echo 'CMD ["nginx", "-g", "daemon off;"]'
  } >build/Dockerfile
}

caddy_files() {
  {
    from_packages caddy ca-certificates wget
    cat <<'DOCKERFILE'
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
VOLUME ["/config", "/data"]
EXPOSE 80 443 443/udp 2019
WORKDIR /srv
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
DOCKERFILE
  } >build/Dockerfile
}

main
