#!/bin/sh
# Looks at ZooKeeper's nodes and changes them, as ZooKeeper's own script does.
exec "$(dirname "$(readlink -f "$0")")/moldau" zookeeper-shell "$@"
