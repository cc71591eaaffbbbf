#!/bin/sh
# Runs the command that stands for a Java class of Kafka.
exec "$(dirname "$(readlink -f "$0")")/moldau" run-class "$@"
