#!/bin/sh
# Shows and changes settings of topics, brokers, users and clients.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" configs "$@"
