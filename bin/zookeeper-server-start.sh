#!/bin/sh
# Starts a ZooKeeper server, as Kafka's script of this name does.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
if [ $# = 0 ]; then
    echo "USAGE: $0 [-daemon] zookeeper.properties" >&2
    exit 1
fi
root=$(cd "${0%/*}/.." && pwd -P)
export LOG_DIR="${LOG_DIR:-$root/logs}" MOLDAU_CACHE="${MOLDAU_CACHE:-$root/.cache}"
# By this the stop script knows which servers are of this clone.
export KAFKA_OPTS="${KAFKA_OPTS-} -Dmoldau.clone=$root"
exec "${0%/*}/moldau" zookeeper "$@"
