#!/bin/sh
# Prints which requests brokers understand.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" broker-api-versions "$@"
