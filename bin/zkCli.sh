#!/bin/sh
# Looks at ZooKeeper's nodes and changes them, as ZooKeeper's own script does.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" zookeeper-shell "$@"
