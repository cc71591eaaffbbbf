#!/bin/sh
# Lists, describes, deletes and resets consumer groups.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" consumer-groups "$@"
