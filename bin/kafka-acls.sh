#!/bin/sh
# Shows, adds and removes access rules.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" acls "$@"
