#!/usr/bin/env bash
# Builds build/chart/render, which renders the chart as Helm would (render/main.go), with Debian's Go and Debian's copies
# of Helm's own libraries. Offline; takes 10 s the first time, then a moment.
set -euo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
out=$PWD/build/chart
mkdir -p "$out"
cd tests/chart/render
GOPATH=/usr/share/gocode GO111MODULE=off GOFLAGS='' GOCACHE=$out/go go build -trimpath -o "$out/render" .
