#!/bin/sh
# Lets preferred replicas lead again.
exec "$(dirname "$(readlink -f "$0")")/moldau" preferred-replica-election "$@"
