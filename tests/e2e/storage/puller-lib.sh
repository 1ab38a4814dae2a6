# Sourced, after lib.sh, by puller.sh: a model, an nginx that serves it as a plain directory and plays registries that
# misbehave, and what is asked of a pull.
# shellcheck shell=bash disable=SC2154
programs=$(dirname "$datastore_binary")
puller=$(realpath -m "${PULLER:-$programs/stackgate-puller}")
with_fail_points=$(realpath -m "${PULLER_FAIL_POINTS:-$programs/puller_fail_points}")
nginx=${NGINX:-$(PATH=$PATH:/usr/sbin type -P nginx || echo "${XDG_CACHE_HOME:-$HOME/.cache}/stackgate/tools/nginx/usr/sbin/nginx")}
for program in "$datastore_binary" "$puller" "$with_fail_points" "$nginx"; do
  [ -x "$program" ] || { echo "not ok $program is there" && exit 1; }
done

# make_model FOLDER: two shards with an index, small files, and a pickle that nobody wants.
make_model() {
  mkdir -p "$1/original"
  head -c 3000000 /dev/urandom >"$1/model-00001-of-00002.safetensors"
  head -c 2500000 /dev/urandom >"$1/model-00002-of-00002.safetensors"
  head -c 100000 /dev/urandom >"$1/consolidated.safetensors"
  head -c 50000 /dev/urandom >"$1/pytorch_model.bin"
  echo '{"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}}' >"$1/model.safetensors.index.json"
  echo '{"model_type":"llama"}' >"$1/config.json"
  echo '{"a name with blanks":true}' >"$1/a b ü.json"
  echo '{}' >"$1/original/params.json"
}
wanted_files=$'a b ü.json\nconfig.json\nmodel-00001-of-00002.safetensors\nmodel-00002-of-00002.safetensors\nmodel.safetensors.index.json'

# publish_model FOLDER REPOSITORY: into the datastore, weights as large files; prints the commit.
publish_model() {
  local file
  for file in "$1"/*.safetensors "$1"/*.bin; do upload "$2" "$file" || return 1; done
  python3 - "$1" >"$state/commit" <<'PY'
import base64, hashlib, json, pathlib, sys
top = pathlib.Path(sys.argv[1])
print(json.dumps({"key": "header", "value": {"summary": "a model"}}))
for path in sorted(p for p in top.rglob("*") if p.is_file()):
    name, bytes_ = str(path.relative_to(top)), path.read_bytes()
    if path.suffix in (".safetensors", ".bin"):
        print(json.dumps({"key": "lfsFile", "value": {"path": name, "algo": "sha256", "size": len(bytes_),
                                                      "oid": hashlib.sha256(bytes_).hexdigest()}}))
    else:
        print(json.dumps({"key": "file", "value": {"path": name, "encoding": "base64",
                                                   "content": base64.b64encode(bytes_).decode()}}))
PY
  hub_commit "$2" "$state/commit"
}

# start_nginx: $web is a directory with SHA256SUMS; its log says which bytes went out to whom.
start_nginx() {
  web_port=$(free_port) other_port=$(free_port) tls_port=$(free_port)
  web=http://127.0.0.1:$web_port
  mkdir -p "$state/nginx" "$state/web"
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$state/nginx/key" -out "$state/nginx/certificate" 2>/dev/null
  cat >"$state/nginx/conf" <<NGINX
daemon off; master_process off; pid $state/nginx/pid; error_log $state/nginx/error.log;
events {}
http {
  client_body_temp_path $state/nginx/b; proxy_temp_path $state/nginx/p; fastcgi_temp_path $state/nginx/f; uwsgi_temp_path $state/nginx/u;
  scgi_temp_path $state/nginx/s;
  log_format pulls '\$request_method \$uri \$status "\$http_range" "\$http_if_range" "\$http_authorization" "\$http_accept_encoding"';
  access_log $state/nginx/pulls.log pulls;
  root $state/web;
  server {
    listen 127.0.0.1:$web_port; listen 127.0.0.1:$tls_port ssl;
    ssl_certificate $state/nginx/certificate; ssl_certificate_key $state/nginx/key;
    location /slow/ { alias $state/web/model/; limit_rate 700k; }
    location /loop/ { return 302 /loop\$request_uri; }
    location /away/ { return 302 http://127.0.0.1:$other_port\$request_uri; }
    $(printf 'location /s/%s/ { return %s; } ' 200 200 401 401 403 403 404 404 500 500)
    location = /x/SHA256SUMS { return 407; }
    location /plain/ { return 302 http://127.0.0.1:$other_port/x; }
  }
  server { listen 127.0.0.1:$other_port; location /away/ { alias $state/web/model/; } }
}
NGINX
  setsid "$nginx" -e "$state/nginx/error.log" -c "$state/nginx/conf" 2>>"$state/nginx/stderr" &
  served+=($!)
  local _
  for _ in $(seq 200); do
    ! curl -s -o /dev/null "$web/" || return 0
    sleep 0.05
  done
  echo "not ok nginx starts" && exit 1
}
sums() { (cd "$1" && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum >"$state/sums") && mv "$state/sums" "$1/SHA256SUMS"; }

# pull FLAG…: the exit code is in $code, what it said in $state/out and $state/err.
pull() {
  code=0
  "$puller" "$@" >"$state/out" 2>"$state/err" || code=$?
}
said() { grep -qF -- "$1" "$state/err" || { echo "  it did not say \"$1\":" && tail -3 "$state/err"; return 1; } >&2; }
ends() { # CODE FLAG…
  pull "${@:2}"
  is "$code" "$1" || { tail -3 "$state/err" >&2 && return 1; }
}
# complete OUTPUT MODEL: exactly the wanted files, byte for byte, and the manifest that says so.
complete() {
  local file
  is "$(cd "$1" && find . -name .stackgate-pull -prune -o -type f ! -name .stackgate-model.json -printf '%P\n' | LC_ALL=C sort)" "$wanted_files" || return 1
  while read -r file; do cmp "$2/$file" "$1/$file" || return 1; done <<<"$wanted_files"
  is "$(jq -r '.files[] | "\(.sha256)  \(.path)"' "$1/.stackgate-model.json" | (cd "$1" && sha256sum -c --quiet 2>&1))" ''
}
nothing_left() { is "$(find "$(dirname "$1")" -maxdepth 2 -name '.stackgate-pull*')" ''; }
complete_or_absent() { [ ! -e "$1/.stackgate-model.json" ] || complete "$@"; }
requests() { grep -c "^GET /$1[^ ]* " "$state/nginx/pulls.log" || true; }
fresh_log() { : >"$state/nginx/pulls.log"; }
