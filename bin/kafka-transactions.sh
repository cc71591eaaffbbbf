#!/bin/sh
# Lists, describes and aborts transactions.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" transactions "$@"
