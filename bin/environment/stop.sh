# Sourced by the scripts that stop servers, with $server set and `is_server`, which says of a
# command line whether it is one: stops every one of this user.
# shellcheck shell=sh disable=SC2154

stopped=
for pid in $(ps -u "$(id -u)" -o pid=); do
    if is_server "$(ps -ww -p "$pid" -o args=)"; then
        kill -s "${SIGNAL:-TERM}" "$pid" && stopped=1
    fi
done
if [ -z "$stopped" ]; then
    echo "No $server server to stop"
    exit 1
fi
