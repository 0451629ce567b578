# Which of a database's installed modules an ERP's image lacks. The image's modules are listed once, in a container that has
# nothing of a tenant's.

MODULES=$ROOT/modules # a file for each image, by its id
MODULES_MAX=200 # as many are reported

# Of the installed modules, those that neither the code nor the image has in the same version, as JSON; null if that cannot be
# found out. Those that an ERP has imported as data are in no image, and need none.
differing_modules() { # DATABASE EDITION [CODE: another than the one that the ERP has]
  local listed installed code
  code=$HERE/codes/${3:-$(fact code)}/modules
  if [[ ! -s $code ]]; then code=/dev/null; fi
  if ! listed=$(listed_modules "$2") || ! installed=$(installed_modules "$1"); then
    echo null
    return
  fi
  jq -Rcn --slurpfile listed "$listed" --slurpfile code "$code" --argjson max "$MODULES_MAX" '
    [inputs | fromjson? | arrays | select(.[0] | strings)
      | { name: .[0], version: .[1], image_version: ($code[0][.[0]].version // $listed[0][.[0]]) } | select(.image_version == null or .version != .image_version)]
    | .[:$max]' <<<"$installed" || echo null
}

installed_modules() { # DATABASE
  sql "$1" <<'SQL' | head -c 2000000
set statement_timeout = '10s';
select json_build_array(left(name, 100), left(latest_version, 50)) from ir_module_module module
where state in ('installed', 'to upgrade', 'to remove') and to_jsonb(module) ->> 'imported' is distinct from 'true'
order by name limit 5000
SQL
}

# The file in which the image's modules are: a version for each name.
listed_modules() { # EDITION
  local image file draft enterprise=()
  image=$(docker image inspect -f '{{.Id}}' "$IMAGE") || return 1
  file=$MODULES/${image#sha256:}
  if [[ $1 == enterprise ]]; then
    [[ -d $ROOT/enterprise/$VERSION ]] || return 1
    enterprise=(/mnt/enterprise /mnt/extra-addons)
    file+=-enterprise
  fi
  if [[ ! -s $file ]]; then
    mkdir -p "$MODULES"
    draft=$file.$$
    timeout 40 docker run --rm --log-driver none --network none --cap-drop ALL --security-opt no-new-privileges --read-only --memory 512m \
      --pids-limit 64 ${enterprise:+-v "$ROOT/enterprise/$VERSION:/mnt/enterprise:ro"} --entrypoint python3 "$IMAGE" -I \
      -c "$(modules_program)" "$VERSION" "${enterprise[@]}" </dev/null 2>/dev/null | head -c 1000000 >"$draft" || true
    # An image without the ERP has no base.
    if ! jq -e .base "$draft" >/dev/null 2>&1; then
      rm -f "$draft"
      return 1
    fi
    mv "$draft" "$file"
  fi
  echo "$file"
}

# Removes the lists of images that no longer exist.
forget_listed_modules() {
  local file image
  for file in "$MODULES"/*; do
    image=${file##*/}
    if [[ -e $file ]] && ! docker image inspect "sha256:${image%%[-.]*}" >/dev/null 2>&1; then rm -f "$file"; fi
  done
}
