#!/bin/sh
# Starts a broker, as Kafka's script of this name does.
usage() {
    echo "USAGE: $0 [-daemon] server.properties [--override property=value]*" >&2
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
if [ -z "$daemon" ]; then
    exec "$python" -m moldau serve "$@"
fi
logs=${LOG_DIR:-$root/logs}
mkdir -p "$logs" || exit
nohup "$python" -m moldau serve "$@" </dev/null >"$logs/kafkaServer.out" 2>&1 &
