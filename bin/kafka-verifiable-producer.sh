#!/bin/sh
# Writes numbers to a topic, and tells of each in JSON.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" verifiable-producer "$@"
