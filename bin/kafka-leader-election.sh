#!/bin/sh
# Elects leaders of partitions.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" leader-election "$@"
