#!/bin/sh
# Prints the records of topics.
exec "$(dirname "$(readlink -f "$0")")/moldau" console-consumer "$@"
