#!/bin/sh
# Measures how fast records are read.
exec "$(dirname "$(readlink -f "$0")")/moldau" consumer-perf-test "$@"
