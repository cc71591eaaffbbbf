#!/bin/sh
# Measures how fast records are written.
exec "$(dirname "$(readlink -f "$0")")/moldau" producer-perf-test "$@"
