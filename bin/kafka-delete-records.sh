#!/bin/sh
# Deletes records before given offsets.
exec "$(dirname "$(readlink -f "$0")")/moldau" delete-records "$@"
