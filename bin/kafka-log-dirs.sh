#!/bin/sh
# Prints the directories of brokers with the replicas in them.
exec "$(dirname "$(readlink -f "$0")")/moldau" log-dirs "$@"
