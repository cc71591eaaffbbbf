#!/bin/sh
# Creates, lists, describes, changes and deletes topics.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" topics "$@"
