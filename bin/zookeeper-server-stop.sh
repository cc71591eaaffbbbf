#!/bin/sh
# Stops every ZooKeeper server of this user that was started from this clone.
here=$(dirname "$(readlink -f "$0")")
server=zookeeper
is_server() {
    case $1 in
        *java*"-Dmoldau.clone=${here%/*} "*QuorumPeerMain*) ;;
        "${here%/*}/.venv/bin/python -m moldau zookeeper "*) ;; # where there is no Java
        *) return 1 ;;
    esac
}
. "$here/environment/stop.sh"
