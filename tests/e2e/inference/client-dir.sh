# shellcheck shell=bash
# Sourced. client_dir HERE BUILD: puts npm's packages of client/ into $client, or ends with a skip.
client_dir() {
  client=$2/openai-client
  command -v npm >/dev/null || { echo "skip OpenAI's client: install node and npm" && exit 0; }
  mkdir -p "$client"
  cp "$1"/client/{package.json,package-lock.json,*.mjs} "$client"
  if ! [ "$client/node_modules/.package-lock.json" -nt "$1/client/package-lock.json" ]; then
    (cd "$client" && npm ci --no-audit --no-fund >npm.log 2>&1) ||
      { tail "$client/npm.log" >&2 && echo "skip OpenAI's client: npm cannot fetch it" && exit 0; }
  fi
}
