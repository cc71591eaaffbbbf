#!/bin/sh
# Prints the id of the cluster.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" cluster "$@"
