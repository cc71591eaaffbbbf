#!/bin/sh
# Deletes records before given offsets.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" delete-records "$@"
