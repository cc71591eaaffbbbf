# Sourced by the scripts that start a server, with $here, $usage, $command and $output set: takes
# the options of Kafka's scripts, and becomes the server or, with -daemon, leaves it behind.
# shellcheck shell=sh disable=SC1091,SC2154

show_usage() {
    echo "USAGE: $0 [-daemon] $usage" >&2
    exit 1
}

daemon=
while :; do
    case ${1-} in
    -daemon) daemon=1 && shift ;;
    -loggc) shift ;; # an option for Java
    -name) [ $# -gt 1 ] && shift 2 || show_usage ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || show_usage

profile=base
. "$here/environment/ensure.sh"
if [ -z "$daemon" ]; then
    exec "$python" -m moldau "$command" "$@"
fi
logs=${LOG_DIR:-$root/logs}
mkdir -p "$logs" || exit
nohup "$python" -m moldau "$command" "$@" </dev/null >"$logs/$output" 2>&1 &
