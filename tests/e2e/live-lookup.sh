#!/usr/bin/env bash
# Reference look-ups: watch caches, direct questions, an API server that is gone or refuses.
source "$(dirname "$(realpath "$0")")/live/run.sh"
live 'LiveLookup.*'
