#!/bin/sh
# Starts a broker, as Kafka's script of this name does.
here=$(dirname "$(readlink -f "$0")")
usage='server.properties [--override property=value]*'
command=serve
output=kafkaServer.out
. "$here/environment/start.sh"
