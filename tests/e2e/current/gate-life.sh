#!/usr/bin/env bash
# As ../gate-life.sh, in front of the current custom-resource server, which evaluates the CEL rules before the gate's last word.
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../gate-life.sh"
