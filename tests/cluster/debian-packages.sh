# Sourced. Downloads Debian packages of any suite and unpacks them without installing them: a private apt
# configuration, so that neither the machine's sources nor its package database matter.
# shellcheck shell=bash disable=SC2016

# apt_private SUITE WORK: prepares the private configuration below WORK and fetches the package lists.
apt_private() {
  apt_suite=$1 apt_work=$2
  mkdir -p "$apt_work"/{apt/lists/partial,apt/cache/archives/partial,debs,root}
  local mirror=${DEB_MIRROR:-} key=/usr/share/keyrings/debian-archive-keyring.gpg signed=''
  [ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Label: Debian' 2>/dev/null | head -1)
  [ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Component: main' 2>/dev/null | head -1)
  [ -n "$mirror" ] || { echo "no Debian archive found in this machine's apt configuration; set DEB_MIRROR" >&2; return 1; }
  [ -e $key ] && signed="[signed-by=$key] "
  printf 'deb %s%s %s main\ndeb-src %s%s %s main\n' "$signed" "$mirror" "$apt_suite" "$signed" "$mirror" "$apt_suite" \
    >"$apt_work/apt/sources.list"
  : >"$apt_work/apt/status"
  echo "fetching Debian's package lists ($apt_suite)"
  apt_private_get update
}

apt_private_get() {
  apt-get -qq -o "Dir::Etc::SourceList=$apt_work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o "Dir::State::Lists=$apt_work/apt/lists" -o "Dir::Cache=$apt_work/apt/cache" \
    -o "Dir::State::status=$apt_work/apt/status" -o Acquire::Check-Valid-Until=false -o Acquire::Languages=none \
    -o APT::Install-Recommends=false -o APT::Sandbox::User=root "$@"
}

# apt_download PACKAGE...: downloads the packages and unpacks them below $apt_work/root.
apt_download() {
  (cd "$apt_work/debs" && apt_private_get download "$@")
  local deb
  for deb in "$apt_work"/debs/*.deb; do dpkg-deb -x "$deb" "$apt_work/root"; done
}
