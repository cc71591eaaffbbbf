#!/bin/sh
# Shows and changes settings of topics, brokers, users and clients.
exec "$(dirname "$(readlink -f "$0")")/moldau" configs "$@"
