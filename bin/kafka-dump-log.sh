#!/bin/sh
# Prints what is in the files of a partition.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" dump-log "$@"
