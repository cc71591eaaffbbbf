#!/bin/sh
# Moves partitions to other brokers.
exec "$(dirname "$(readlink -f "$0")")/moldau" reassign-partitions "$@"
