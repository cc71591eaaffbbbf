#!/bin/sh
# Moves partitions to other brokers.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" reassign-partitions "$@"
