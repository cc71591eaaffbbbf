#!/bin/sh
# Looks at ZooKeeper's nodes and changes them.
exec "$(dirname "$(readlink -f "$0")")/moldau" zookeeper-shell "$@"
