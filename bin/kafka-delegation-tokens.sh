#!/bin/sh
# Creates, renews, expires and shows delegation tokens.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" delegation-tokens "$@"
