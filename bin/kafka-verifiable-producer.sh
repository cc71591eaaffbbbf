#!/bin/sh
# Writes numbers to a topic, and tells of each in JSON.
exec "$(dirname "$(readlink -f "$0")")/moldau" verifiable-producer "$@"
