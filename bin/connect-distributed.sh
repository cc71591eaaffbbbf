#!/bin/sh
# Starts a Connect worker whose connectors are kept in topics.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" connect-distributed "$@"
