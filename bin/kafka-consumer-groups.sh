#!/bin/sh
# Lists, describes, deletes and resets consumer groups.
exec "$(dirname "$(readlink -f "$0")")/moldau" consumer-groups "$@"
