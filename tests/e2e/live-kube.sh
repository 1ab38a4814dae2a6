#!/usr/bin/env bash
# The Kubernetes client against the API server itself, through a restart and a compaction.
source "$(dirname "$(realpath "$0")")/live/run.sh"
live 'LiveKube.*'
