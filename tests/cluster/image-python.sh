#!/usr/bin/env bash
# Debian's Python for an image: the interpreter and its standard library, compiled, without what needs a terminal, a
# desktop or a compiler. Nothing of this machine's site-packages.
#   image-python.sh ROOT      prints the programs and modules whose shared libraries the image needs
set -euo pipefail
fail() { echo "image-python.sh: $1" >&2; exit 1; }
root=${1:?usage: image-python.sh ROOT}
interpreter=/usr/bin/python3
[ -x $interpreter ] || fail "$interpreter is missing; it comes with the package python3"
name=$(basename "$(realpath $interpreter)")
library=/usr/lib/$name
left_out="^$library/(config-|curses/|dbm/|distutils/|ensurepip/|lib2to3/|pydoc_data/|test/|venv/|turtle|lib-dynload/(_curses|_dbm|_gdbm|nis|readline))"

mkdir -p "$root/usr/bin" "$root$library"
strip -o "$root/usr/bin/$name" "$(realpath $interpreter)"
ln -s "$name" "$root$interpreter"
echo "/usr/bin/$name"
files=$(dpkg -L "lib$name-minimal" "lib$name-stdlib" | grep -E "^$library/.*\.(py|so)$" | grep -vE "$left_out" | sort -u) ||
  fail "Debian's packages lib$name-minimal and lib$name-stdlib are not installed"
while read -r file; do
  [ -f "$file" ] || continue
  mkdir -p "$root$(dirname "$file")"
  cp "$file" "$root$file" # what a link leads to, too
  if [[ $file == *.so ]]; then echo "$file"; fi
done <<<"$files"
# Modules compiled once, here: each process of actions would do so again. They hold no time, so equal files give equal bytes.
"$interpreter" -I -m compileall -q -b -j 1 -s "$root" --invalidation-mode unchecked-hash "$root$library" >&2
find "$root$library" -name '*.py' -delete
