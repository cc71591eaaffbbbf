#!/bin/sh
# Writes lines of standard input to a topic.
exec "$(dirname "$(readlink -f "$0")")/moldau" console-producer "$@"
