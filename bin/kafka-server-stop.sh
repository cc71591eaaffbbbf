#!/bin/sh
# Stops every broker of this user that was started from this clone.
here=$(dirname "$(readlink -f "$0")")
server=kafka
is_server() {
    case $1 in
        *" --until-input-ends"*) return 1 ;; # its supervisor stops it, in its turn
        "${here%/*}/.venv/bin/python -m moldau serve"*) ;;
        *) return 1 ;;
    esac
}
. "$here/environment/stop.sh"
