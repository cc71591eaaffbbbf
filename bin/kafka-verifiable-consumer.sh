#!/bin/sh
# Reads a topic in a group, and tells of all that happens in JSON.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" verifiable-consumer "$@"
