#!/usr/bin/env bash
# Prints webhooks.yaml for the place where the gate runs.
#   render.sh                          behind its Service, with self-managed certificates
#   render.sh --url URL --ca FILE      as a process at URL (https://127.0.0.1:9443), trusted through the CA in FILE
#   render.sh --cert-manager           behind its Service; cert-manager fills caBundle
#   … --match-conditions               for Kubernetes 1.28 and later
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
url='' ca='' cert_manager='' conditions=''
while [ $# -gt 0 ]; do
  case $1 in
    --url) url=${2:?--url needs a URL}; shift 2 ;;
    --ca) ca=${2:?--ca needs a file}; shift 2 ;;
    --cert-manager) cert_manager=1; shift ;;
    --match-conditions) conditions=1; shift ;;
    *) echo "render.sh: unknown argument $1; see the head of the file" >&2; exit 2 ;;
  esac
done
[ -z "$url" ] || [ -n "$ca" ] || { echo "render.sh: --url needs --ca FILE" >&2; exit 2; }
[ -z "$ca" ] || [ -r "$ca" ] || { echo "render.sh: $ca cannot be read" >&2; exit 2; }

script=()
if [ -n "$url" ]; then
  script+=(-e "s|^    service: {.*path: \(/[a-z]*\)}\$|    url: ${url%/}\1\n    caBundle: $(base64 -w0 <"$ca")|")
fi
if [ -n "$cert_manager" ]; then
  script+=(-e 's|^  name: stackgate-gate$|&\n  annotations: {cert-manager.io/inject-ca-from: stackgate-system/stackgate-webhook}|')
fi
if [ -n "$conditions" ]; then
  script+=(-e "/^  timeoutSeconds: /r $here/match-conditions.yaml")
fi
sed "${script[@]}" -e '' "$here/webhooks.yaml"
