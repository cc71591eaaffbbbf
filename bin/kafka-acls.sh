#!/bin/sh
# Shows, adds and removes access rules.
exec "$(dirname "$(readlink -f "$0")")/moldau" acls "$@"
