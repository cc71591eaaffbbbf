#!/bin/sh
# Runs the command that stands for a Java class of Kafka.
case $0 in */*) [ -L "$0" ] ;; esac && exec "$(readlink -f "$0")" "$@"
exec "${0%/*}/moldau" run-class "$@"
