#!/bin/sh
# Stops every broker of this user that was started from this clone.
here=$(dirname "$(readlink -f "$0")")
python=${here%/*}/.venv/bin/python
signal=${SIGNAL:-TERM}

stopped=
for pid in $(ps -u "$(id -u)" -o pid=); do
    case $(ps -ww -p "$pid" -o args=) in
    "$python -m moldau serve"*) kill -s "$signal" "$pid" && stopped=1 ;;
    esac
done
if [ -z "$stopped" ]; then
    echo "No kafka server to stop"
    exit 1
fi
