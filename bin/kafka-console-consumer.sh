#!/bin/sh
# Prints the records of topics.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" console-consumer "$@"
