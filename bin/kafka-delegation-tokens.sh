#!/bin/sh
# Creates, renews, expires and shows delegation tokens.
exec "$(dirname "$(readlink -f "$0")")/moldau" delegation-tokens "$@"
