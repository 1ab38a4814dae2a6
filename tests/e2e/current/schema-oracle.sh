#!/usr/bin/env bash
# As ../schema-oracle.sh, asked of the current custom-resource server, which refuses unknown fields and evaluates CEL rules.
control_plane=current
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../schema-oracle.sh"
