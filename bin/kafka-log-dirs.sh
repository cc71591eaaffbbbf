#!/bin/sh
# Prints the directories of brokers with the replicas in them.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" log-dirs "$@"
