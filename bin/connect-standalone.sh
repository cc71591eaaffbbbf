#!/bin/sh
# Starts a Connect worker with connectors from files.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" connect-standalone "$@"
