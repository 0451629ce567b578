# The proxy between Caddy and an ERP, one for each instance. The ERP's workers must not wait for slow clients: it takes all of a
# request before the ERP gets it, and as much of a response as has room in its share. What is large is on the disk, in a file
# system of a fixed size, or in a little memory where there can be none.

BUFFER_USER=65534
CLIENT_SECONDS=300 # how long a client may pause
PROXY_SECONDS=$((LIMIT_TIME_REAL + 60)) # the ERP gives up first
UPLOAD_BYTES=$((128 * 1024 * 1024)) # the ERP's own default
BUFFER_MB=96 # 64 KB for each of 768 requests at once, and the program
MEMORY_ROOM_MB=32 # for all uploads at once, where there is no file system

# Without its image, as when the registry is unreachable at the first start since there are buffers, an ERP runs as it did before.
has_buffer() { [[ -e $HERE/buffer/nginx.conf ]]; }

configure_buffer() {
  if ! docker image inspect "$NGINX" >/dev/null 2>&1 && ! pull_once "$NGINX"; then
    rm -rf "$HERE/buffer"
    return
  fi
  make_buffer
  mkdir -p "$HERE/buffer"
  nginx_conf >"$JOB/work/nginx.conf"
  chown "$BUFFER_USER:$BUFFER_USER" "$HERE/buffer" "$JOB/work/nginx.conf"
  mv "$JOB/work/nginx.conf" "$HERE/buffer/nginx.conf"
}

# All of it is allocated now: a file system on a file with holes would lose what it has accepted when the disk is full.
make_buffer() {
  local image=$BUFFERS/$ID.img bytes
  if [[ ! -e $image ]]; then
    mkdir -p "$BUFFERS"
    bytes=$(buffer_bytes)
    if ((bytes == 0)) || ! fallocate -l "$bytes" "$image.draft"; then
      rm -f "$image.draft"
      return
    fi
    mv "$image.draft" "$image"
  fi
  mount_at_boot
  mount_buffer "$image" "$BUFFER_USER" || true # such as in a container: then the memory has to do
}

# A sixteenth of what is free, at most 4 GB: the first ERP on a disk of 40 GB gets room for sixteen of the largest uploads at
# once. None on a disk that is almost full.
buffer_bytes() {
  local bytes
  bytes=$(df --output=avail -B1 "$BUFFERS" | awk 'NR == 2 { printf "%.0f", $1 / 16 }')
  bytes=$((bytes < 4 * 1024 ** 3 ? bytes : 4 * 1024 ** 3))
  echo $((bytes > 128 * 1024 ** 2 ? bytes : 0))
}

is_buffer_mounted() { mountpoint -q "$BUFFERS/$ID"; }

# How much of a response is taken from the ERP before its client has it. A response for which there is no room breaks off in its
# middle, so each takes a small share: some thirty fit at once. Without a file system all of it passes at the client's pace.
response_bytes() {
  if is_buffer_mounted; then echo $(($(stat -c %s "$BUFFERS/$ID.img") / 32)); else echo 0; fi
}

# A new file system each time: nothing in it outlives the requests. Where it is not mounted, nobody can write.
mount_buffer() { # IMAGE USER
  local place=${1%.img}
  if mountpoint -q "$place"; then return; fi
  mkdir -p "$place"
  mke2fs -q -F -t ext4 -O ^has_journal -m 0 -E "nodiscard,root_owner=$2:$2" "$1" && mount -o loop,nodev,nosuid,noexec "$1" "$place"
}

# Docker starts the containers again after a restart of the machine, and mounts into them what is there by then.
mount_at_boot() {
  local command=$SYSTEM/etc/erp-hosting/mount-buffers unit=$SYSTEM/etc/systemd/system/erp-buffers.service
  if [[ ! -d /run/systemd/system || -e $unit ]]; then return; fi
  mkdir -p "$(dirname "$command")"
  {
    declare -f mount_buffer
    echo "for image in '$BUFFERS'/*.img; do mount_buffer \"\$image\" $BUFFER_USER; done"
  } >"$command"
  cat >"$unit" <<UNIT
[Unit]
Description=File systems of the ERPs' buffering proxies
RequiresMountsFor=$BUFFERS
Before=docker.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=-/bin/bash $command

[Install]
WantedBy=multi-user.target
UNIT
  systemctl daemon-reload
  systemctl enable erp-buffers
}

# Those of instances that are gone, also such as an earlier version of the script removed.
remove_unused_buffers() {
  local image
  for image in "$BUFFERS"/*.img; do
    if [[ ! -e $image || -d $INSTANCES/$(basename "$image" .img) ]]; then continue; fi
    if mountpoint -q "${image%.img}"; then umount -l "${image%.img}"; fi
    rm -rf --one-file-system "${image%.img}" "$image"
  done
}

# Part of compose.yaml. Without its file system, it has a little of its own memory. It is created anew if its settings change.
buffer_service() {
  local room="tmpfs: [\"/tmp:size=16m\", \"/buffer:size=${MEMORY_ROOM_MB}m,mode=1777\"]" mount=''
  if is_buffer_mounted; then room='tmpfs: ["/tmp:size=16m"]' mount=", \"$BUFFERS/$ID:/buffer\""; fi
  cat <<YAML
  buffer:
    <<: *limits
    image: $NGINX
    container_name: $PROJECT-buffer
    restart: unless-stopped
    user: "$BUFFER_USER:$BUFFER_USER"
    read_only: true
    $room
    mem_limit: ${BUFFER_MB}m
    memswap_limit: ${BUFFER_MB}m
    cpu_shares: 4096 # the ERP waits for it
    stop_signal: SIGTERM # not SIGQUIT, which waits for slow clients
    entrypoint: ["nginx", "-e", "stderr", "-c", "/etc/buffer/nginx.conf", "-g", "daemon off;"]
    command: []
    labels: { erp-hosting.settings: "$(sha256sum <"$HERE/buffer/nginx.conf" | head -c 16)" }
    volumes: ["./buffer:/etc/buffer:ro"$mount]
    networks: ["edge"]
    logging: *logging
YAML
}

# The ERP's administrators can change what it accepts. It says so itself of what passes here.
upload_bytes() {
  local bytes
  bytes=$(setting "$DATABASE" web.max_file_upload_size) || bytes=''
  if [[ ! $bytes =~ ^[1-9][0-9]{0,11}$ ]]; then bytes=$UPLOAD_BYTES; fi
  echo "$bytes"
}

nginx_conf() {
  local bytes full="Too many large uploads and downloads at once. Please try again in a minute."
  bytes=$(upload_bytes)
  if ! is_buffer_mounted; then
    full="There is no room for this upload: all uploads at once have $MEMORY_ROOM_MB MB, because the server"
    if [[ -e $BUFFERS/$ID.img ]]; then
      full+=" cannot mount a file system for them. Upload a smaller file."
    else
      full+="'s disk was too full when the ERP started. Upload a smaller file, or free disk space and restart the ERP."
    fi
  fi
  cat <<CONF
worker_processes 1;
worker_rlimit_nofile 4096;
pid /tmp/nginx.pid;
error_log stderr error;
events { worker_connections 1536; }
http {
	access_log off;
	server_tokens off;
	client_body_temp_path /buffer;
	proxy_temp_path /buffer;
	fastcgi_temp_path /tmp;
	uwsgi_temp_path /tmp;
	scgi_temp_path /tmp;
	client_max_body_size $bytes;
	client_body_buffer_size 16k;
	client_body_timeout ${CLIENT_SECONDS}s;
	send_timeout ${CLIENT_SECONDS}s;
	large_client_header_buffers 4 32k;
	resolver 127.0.0.11 ipv6=off valid=5s;
	proxy_http_version 1.1;
	proxy_set_header Connection "";
	proxy_set_header Host \$http_host;
	proxy_buffer_size 16k;
	proxy_buffers 4 8k;
	proxy_busy_buffers_size 24k;
	proxy_max_temp_file_size $(response_bytes);
	proxy_connect_timeout 75s;
	proxy_send_timeout ${PROXY_SECONDS}s;
	proxy_read_timeout ${PROXY_SECONDS}s;
	server {
		listen 8080 backlog=1024;
		error_page 413 @too_large;
		error_page 500 =503 @full;
		location / {
			set \$erp $PROJECT;
			proxy_pass http://\$erp:8069;
		}
		location @too_large {
			default_type "text/plain; charset=utf-8";
			return 413 "The upload is too large: this ERP accepts $((bytes / 1024 / 1024)) MB. An administrator can change that (web.max_file_upload_size) and restart the ERP.\n";
		}
		location @full {
			default_type "text/plain; charset=utf-8";
			return 503 "$full\n";
		}
	}
}
CONF
}
