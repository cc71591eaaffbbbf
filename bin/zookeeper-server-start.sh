#!/bin/sh
# Starts a ZooKeeper server, as Kafka's script of this name does.
here=$(dirname "$(readlink -f "$0")")
usage='zookeeper.properties'
command=zookeeper
output=zookeeper.out
export MOLDAU_CACHE="${MOLDAU_CACHE:-${here%/*}/.cache}"
# By this the stop script knows which servers are of this clone.
export KAFKA_OPTS="${KAFKA_OPTS-} -Dmoldau.clone=${here%/*}"
. "$here/environment/start.sh"
