# The machine's firewall: what reaches the machine, and what its containers reach.

# Our own table: other rules on the machine, above all Docker's, stay as they are. Whoever has a firewall of their own may leave
# out what reaches the machine from outside. Debian's nftables.service, if it is used, removes all tables when it starts and
# reloads: ours comes after it each time.
raise_firewall() {
  local place=$SYSTEM/etc/erp-hosting
  mkdir -p "$place" "$ROOT/locks"
  (
    flock 4
    firewall >"$place/firewall.draft" && mv "$place/firewall.draft" "$place/firewall.nft" && nft -f "$place/firewall.nft"
  ) 4>"$ROOT/locks/firewall" || broken "The firewall could not be set up"
  if [[ ! -d /run/systemd/system ]]; then return; fi
  cat >"$SYSTEM/etc/systemd/system/erp-firewall.service" <<UNIT
[Unit]
Description=Firewall of the ERP hosting
DefaultDependencies=no
Before=network-pre.target
Wants=network-pre.target
After=local-fs.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=$(command -v nft) -f $place/firewall.nft

[Install]
WantedBy=multi-user.target
UNIT
  mkdir -p "$SYSTEM/etc/systemd/system/nftables.service.d"
  cat >"$SYSTEM/etc/systemd/system/nftables.service.d/erp-hosting.conf" <<UNIT
[Service]
ExecStartPost=-$(command -v nft) -f $place/firewall.nft
ExecReload=-$(command -v nft) -f $place/firewall.nft
UNIT
  systemctl daemon-reload
  systemctl enable --now erp-firewall
}

# Before an ERP starts: it may have a new network, and the operator may have opened others. The machine may have been prepared by
# an earlier version of the script.
refresh_firewall() {
  local file=$SYSTEM/etc/erp-hosting/firewall.nft
  P[FIREWALL]=no
  if grep -qs 'policy drop' "$file"; then P[FIREWALL]=yes; fi
  raise_firewall
}

firewall() {
  local input='policy accept; iifname @containers jump from_containers' containers builders opened
  containers=$(bridges) && builders=$(bridges builder) && opened=$(opened_networks) || return 1
  if [[ ${P[FIREWALL]:-yes} == yes ]]; then input=$(input_rules); fi
  cat <<NFT
table inet erp_hosting
delete table inet erp_hosting
table inet erp_hosting {
  set containers {
    type ifname
    $(elements <<<"$containers")
  }
  set builders {
    type ifname
    $(elements <<<"$builders")
  }
  set opened {
    type ipv4_addr
    flags interval
    auto-merge
    $(sed /:/d <<<"$opened" | elements)
  }
  set opened6 {
    type ipv6_addr
    flags interval
    auto-merge
    $(sed -n /:/p <<<"$opened" | elements)
  }
  chain input {
    type filter hook input priority filter; $input
  }
  # To the machine itself: only the sites, and a resolver.
  chain from_containers {
    ct state established,related accept
    jump resolvers
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept # without them, IPv6 ends after a minute
    iifname @builders drop
    meta l4proto { icmp, ipv6-icmp } accept
    tcp dport { 80, 443 } accept
    udp dport 443 accept
    jump open
    drop
  }
  chain resolvers {
    meta l4proto { tcp, udp } th dport 53 accept # they often have private addresses, and change
  }
  chain open {
    jump resolvers
    ip daddr @opened accept
    ip6 daddr @opened6 accept
  }
  chain forward {
    type filter hook forward priority filter - 1; policy accept;
    ct state established,related accept
    iifname @containers oifname @containers accept # Docker keeps their networks apart
    iifname @containers jump out_of_containers
    # Where a cloud's machine has its credentials (168.63.129.16: Azure's), for all other containers as well.
    meta l4proto { tcp, udp } th dport 53 accept
    ip daddr { 168.63.129.16, 169.254.0.0/16 } drop
    ip6 daddr fd00:ec2::254 drop
  }
  # What fetches code and packages reaches no address that was opened for ERPs, and no other services.
  chain out_of_containers {
    jump resolvers
    iifname @builders tcp dport != { 22, 443, 8443 } drop
    iifname @builders meta l4proto != tcp drop
    iifname != @builders jump open
    tcp dport 25 drop
    ip daddr { 0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 168.63.129.16, 169.254.0.0/16, 172.16.0.0/12, 192.0.0.0/24, 192.168.0.0/16, 198.18.0.0/15, 224.0.0.0/3 } drop
    ip6 daddr { ::/96, ::ffff:0:0/96, 64:ff9b::/96, 64:ff9b:1::/48, 2002::/16, fc00::/7, fe80::/10, ff00::/8 } drop
  }
}
NFT
}

elements() { sed '/^$/d' | paste -sd, - | sed '/./s/.*/elements = { & }/'; } # a line each; none is no list at all

# Prints the quoted names of our networks' bridges. Docker names a bridge after its network's ID, which stays.
bridges() { # [NAME]
  docker network ls --filter driver=bridge --format '{{.ID}} {{.Name}}' | sed -nE 's/^([0-9a-f]{12}) erp-'"${1:+$1\$}"'.*/"br-\1"/p'
}

# Jobs that know the operator's setting store it for those that do not.
opened_networks() {
  local file=$ROOT/open_networks
  if [[ -v P[OPEN_NETWORKS] ]]; then parameter OPEN_NETWORKS '[0-9a-fA-F.:/ ]*' | tr ' ' '\n' >"$file" || return 1; fi
  cat "$file" 2>/dev/null || true
}

input_rules() {
  local ports
  ports=$({ sshd -T 2>/dev/null | awk '$1 == "port" { print $2 }' || true; echo "${SSH_CONNECTION##* }"; } | sort -un | paste -sd, -)
  cat <<NFT
policy drop;
    ct state established,related accept
    ct state invalid drop
    iif lo accept
    iifname @containers jump from_containers
    meta l4proto { icmp, ipv6-icmp } accept
    tcp dport { ${ports:-22}, 80, 443 } accept
    udp dport { 443, 546 } accept
NFT
}
