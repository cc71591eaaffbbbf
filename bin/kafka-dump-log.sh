#!/bin/sh
# Prints what is in the files of a partition.
exec "$(dirname "$(readlink -f "$0")")/moldau" dump-log "$@"
