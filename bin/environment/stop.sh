# Sourced by the scripts that stop servers, with $server set and `is_server`, which says of a
# command line whether it is one: stops every one of this user.
# shellcheck shell=sh disable=SC2154

case ${1-} in -h | --help)
    echo "usage: bin/${0##*/}"
    echo "Sends TERM, or the signal that SIGNAL names, to every $server server of this clone."
    exit 0
    ;;
esac
pids=$(ps -u "$(id -u)" -ww -o pid= -o args= | while read -r pid line; do
    if is_server "$line"; then
        echo "$pid"
    fi
done)
if [ -z "$pids" ]; then
    echo "No $server server to stop"
    exit 1
fi
# shellcheck disable=SC2086 - one word for each
kill -s "${SIGNAL:-TERM}" $pids
