#!/bin/sh
# Elects leaders of partitions.
exec "$(dirname "$(readlink -f "$0")")/moldau" leader-election "$@"
