#!/bin/sh
# Reads a topic in a group, and tells of all that happens in JSON.
exec "$(dirname "$(readlink -f "$0")")/moldau" verifiable-consumer "$@"
