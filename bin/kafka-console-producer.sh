#!/bin/sh
# Writes lines of standard input to a topic.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" console-producer "$@"
