#!/usr/bin/env bash
# Self-managed certificates: replicas that start at once, lost and broken Secrets, a caBundle that somebody resets.
source "$(dirname "$(realpath "$0")")/live/run.sh"
live 'LiveSelfManaged.*'
