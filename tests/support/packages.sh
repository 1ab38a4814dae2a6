# Sourced, after progress.sh. What ./dev needs of Debian 12, per group, and how it is installed.
# shellcheck shell=bash

package_group() {
  case $1 in
    build) echo g++ cmake ninja-build ccache mold pkg-config git ca-certificates curl jq openssl \
      libboost1.81-dev libssl-dev libcurl4-openssl-dev libyaml-dev libyaml-cpp-dev libre2-dev \
      libsqlite3-dev libpq-dev libgit2-dev libarchive-dev zlib1g-dev libpugixml-dev libcmark-gfm-dev libcmark-gfm-extensions-dev \
      libpcre2-dev libutf8proc-dev libhnswlib-dev libmimalloc-dev \
      nlohmann-json3-dev libvalijson-dev libfmt-dev libspdlog-dev libsimdjson-dev libgtest-dev libgmock-dev \
      librapidcheck-dev ;;
    clang) echo clang-19 libclang-rt-19-dev ;;
    cluster) echo curl jq openssl xz-utils tar perl-base procps ;;
    node) echo iproute2 util-linux mount gcc libc6-dev ;;
    style) echo clang-format-19 shellcheck codespell python3 ;;
    lint) echo clang-tidy-19 ;;
    chart) echo golang-go golang-github-masterminds-sprig-dev golang-github-xeipuuv-gojsonschema-dev \
      golang-github-ghodss-yaml-dev jq ;;
    storage) echo postgresql-15 git git-lfs sqlite3 python3 python3-dulwich python3-boto3 jq curl procps ;;
    s3) echo radosgw ceph-mon ceph-osd ceph-common ;;
    browser) echo chromium nodejs ;;
    npm) echo npm ;;
    flow) echo git git-lfs curl jq procps util-linux ;;
    engine) echo libtorch-dev libgloo-dev libopenblas0-pthread python3 python3-numpy ;;
    templates) echo python3 python3-jinja2 ;;
    image) echo python3 ;;
    metrics) echo python3 python3-nltk ;; # python3-sklearn wants Boost 1.74, which the build's 1.81 shuts out
    bench) echo wrk libbenchmark-dev apache2-bin git ;;
  esac
}

# need GROUP...: installs what is missing of these groups; says and does nothing when all is there.
need() {
  local group name installed wanted=() missing=() admin=()
  for group; do mapfile -t -O "${#wanted[@]}" wanted < <(package_group "$group" | tr ' ' '\n'); done
  type -P dpkg-query apt-get >/dev/null ||
    die "this machine has no apt. Stackgate is built on Debian 12 (or a container of it) with: ${wanted[*]}"
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
  for name in "${wanted[@]}"; do
    grep -qx "installed $name" <<<"$installed" || missing+=("$name")
  done
  ((${#missing[@]} > 0)) || return 0

  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }; then
      die "these packages are missing and neither root nor sudo is at hand. As root, run:
  apt-get update && apt-get install --no-install-recommends ${missing[*]}"
    fi
    admin=(sudo)
  fi
  step "installing ${#missing[@]} Debian packages" "1 to 3 min" packages apt_install "${missing[@]}" ||
    die "apt could not install: ${missing[*]}"
}

apt_install() {
  local apt=("${admin[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
  # The lists may be missing or too old; they are fetched only then.
  "${apt[@]}" install --no-install-recommends "$@" || { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "$@"; }
}

# need_tool COMMAND PACKAGE: sets $tool to the command's path. For packages that would start a service when installed:
# unpacked into the cache instead.
need_tool() {
  local root=${XDG_CACHE_HOME:-$HOME/.cache}/stackgate/tools/$2 place
  tool=$(command -v "$1" 2>/dev/null) && return 0
  for place in usr/bin usr/sbin; do
    tool=$root/$place/$1
    [ ! -x "$tool" ] || return 0
  done
  step "unpacking $1" "20 s" "tool-$1" unpack_tool "$2" "$root" || die "$1 could not be had from Debian's package $2"
  for place in usr/bin usr/sbin; do
    tool=$root/$place/$1
    [ ! -x "$tool" ] || return 0
  done
  die "Debian's package $2 has no $1"
}

unpack_tool() (
  set -euo pipefail
  source tests/cluster/debian-packages.sh
  rm -rf "$2" "$2.work"
  mkdir -p "$2.work"
  apt_private bookworm "$2.work"
  apt_download "$1"
  mv "$2.work/root" "$2"
  rm -rf "$2.work"
)
