#!/usr/bin/env bash
# Events: folded, made anew when they are gone, shown by kubectl describe.
source "$(dirname "$(realpath "$0")")/live/run.sh"
live 'LiveEvents.*'
