#!/bin/sh
# Measures how fast records are written.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" producer-perf-test "$@"
