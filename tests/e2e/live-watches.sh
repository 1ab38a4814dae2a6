#!/usr/bin/env bash
# Shared watches: types that come and go, many sinks, a restart, a compaction, a stalled proxy, thousands of objects.
source "$(dirname "$(realpath "$0")")/live/run.sh"
live 'LiveSharedWatches.*:LiveWatchFaults.*'
