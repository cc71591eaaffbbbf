#!/bin/sh
# Stops every ZooKeeper server of this user that was started from this clone.
here=$(dirname "$(readlink -f "$0")")
root=${here%/*}
signal=${SIGNAL:-TERM}

stopped=
for pid in $(ps -u "$(id -u)" -o pid=); do
    case $(ps -ww -p "$pid" -o args=) in
    *java*"-Dmoldau.clone=$root "*QuorumPeerMain*) kill -s "$signal" "$pid" && stopped=1 ;;
    esac
done
if [ -z "$stopped" ]; then
    echo "No zookeeper server to stop"
    exit 1
fi
