#!/bin/sh
# Prints which requests brokers understand.
exec "$(dirname "$(readlink -f "$0")")/moldau" broker-api-versions "$@"
