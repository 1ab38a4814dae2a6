#!/usr/bin/env bash
# One image for each program, as archives. One that was made of the same programs and scripts stays as it is.
#   pack-images.sh TAG OUT_DIR [PREFIX]     PREFIX: before each name, "registry.test/"
# In the environment: STACKGATE_BIN, the programs' folder; IMAGE_LIBRARIES as image.sh takes it.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
tag=${1:?usage: pack-images.sh TAG OUT_DIR [PREFIX]} out=${2:?usage: pack-images.sh TAG OUT_DIR [PREFIX]} prefix=${3:-}
bin=${STACKGATE_BIN:-$here/../../build/release/bin}

# pack NAME FILE…: prints what it consists of
pack() {
  local name=$1 archive=$out/$1.tar files stamp
  shift
  files=("${@/#/$bin/}")
  stamp="$prefix$name:$tag $({ echo "${IMAGE_ENV:-} ${IMAGE_PYTHON:-} ${IMAGE_PROGRAMS:-} ${IMAGE_LIBRARIES:-}" && cat "${files[@]}" "$here"/{image,image-python,oci-archive}.sh; } | sha256sum)"
  if [ -e "$archive" ] && [ "$(cat "$archive.stamp" 2>/dev/null)" = "$stamp" ]; then return; fi
  rm -f "$archive.stamp"
  "$here/image.sh" "$prefix$name:$tag" "$archive" "${files[@]}"
  echo "$stamp" >"$archive.stamp"
}

for program in stackgate stackgate-{entitystore,puller,customizer}; do pack "$program" "$program"; done
# It starts git, and its users' init scripts, with what these need most.
IMAGE_PROGRAMS="/usr/bin/git /bin/sh $(printf '/usr/bin/%s ' cat chmod cp ln ls mkdir mv rm)" pack stackgate-datastore stackgate-datastore
# They run users' actions.py, and the programs that models write.
for program in stackgate-{guardrail,evaluator}; do IMAGE_PYTHON=yes pack "$program" "$program"; done
# What stands in front of engines of others needs no libtorch. Its user may write nowhere else, unless a volume is mounted.
IMAGE_ENV=STACKGATE_DATA_DIR=/tmp/stackgate pack stackgate-inference-upstream stackgate-inference
if [ ! -e "$bin/libstackgate-engine.so" ]; then
  echo "no images of stackgate-inference and stackgate-trainer: they are built where libtorch-dev is installed"
  exit 0
fi
pack stackgate-trainer stackgate-trainer libstackgate-learner.so
IMAGE_ENV=STACKGATE_DATA_DIR=/tmp/stackgate pack stackgate-inference stackgate-inference libstackgate-engine.so
