#!/usr/bin/env bash
# Calls side by side, cancelled, limited and seen by metrics.
source "$(dirname "$(realpath "$0")")/live/run.sh"
live 'LiveCalls.*'
