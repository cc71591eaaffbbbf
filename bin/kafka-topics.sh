#!/bin/sh
# Creates, lists, describes, changes and deletes topics.
exec "$(dirname "$(readlink -f "$0")")/moldau" topics "$@"
