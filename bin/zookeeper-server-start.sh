#!/bin/sh
# Starts a ZooKeeper server, as Kafka's script of this name does.
usage() {
    echo "USAGE: $0 [-daemon] zookeeper.properties" >&2
    exit 1
}

daemon=
while :; do
    case ${1-} in
    -daemon) daemon=1 && shift ;;
    -loggc) shift ;; # an option for Java
    -name) [ $# -gt 1 ] && shift 2 || usage ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || usage

profile=base
here=$(dirname "$(readlink -f "$0")")
. "$here/environment/ensure.sh"
export MOLDAU_CACHE="${MOLDAU_CACHE:-$root/.cache}"
# By this the stop script knows which servers are of this clone.
export KAFKA_OPTS="${KAFKA_OPTS-} -Dmoldau.clone=$root"
if [ -z "$daemon" ]; then
    exec "$python" -m moldau zookeeper "$@"
fi
logs=${LOG_DIR:-$root/logs}
mkdir -p "$logs" || exit
nohup "$python" -m moldau zookeeper "$@" </dev/null >"$logs/zookeeper.out" 2>&1 &
