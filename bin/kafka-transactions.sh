#!/bin/sh
# Lists, describes and aborts transactions.
exec "$(dirname "$(readlink -f "$0")")/moldau" transactions "$@"
