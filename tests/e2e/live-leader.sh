#!/usr/bin/env bash
# Leader election: hand-over, a killed leader, stolen and deleted leases, an API server that restarts.
source "$(dirname "$(realpath "$0")")/live/run.sh"
live 'LiveLeader.*:LeaderIdentity.*'
