#!/bin/sh
# Starts a broker, as Kafka's script of this name does.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
if [ $# = 0 ]; then
    echo "USAGE: $0 [-daemon] server.properties [--override property=value]*" >&2
    exit 1
fi
export LOG_DIR="${LOG_DIR:-${0%/*}/../logs}"
exec "${0%/*}/moldau" serve "$@"
