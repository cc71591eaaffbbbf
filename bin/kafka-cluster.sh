#!/bin/sh
# Prints the id of the cluster.
exec "$(dirname "$(readlink -f "$0")")/moldau" cluster "$@"
