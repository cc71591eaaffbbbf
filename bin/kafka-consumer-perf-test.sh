#!/bin/sh
# Measures how fast records are read.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" consumer-perf-test "$@"
