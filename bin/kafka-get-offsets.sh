#!/bin/sh
# Prints offsets of partitions.
exec "$(dirname "$(readlink -f "$0")")/moldau" get-offsets "$@"
