# Sourced by the scripts in bin/ with $here and $profile set; leaves $root and $python.
#
# The quick path reads one stamp and checks the files it lists, a few milliseconds;
# only when one of them has changed does `python3 bin/environment` look closer.
# shellcheck shell=sh disable=SC2034,SC2154

root=${here%/*}
python=$root/.venv/bin/python

environment_is_fresh() {
    stamp=$root/.venv/stamps/$profile
    case ${MOLDAU_PURE:-0} in
    0) ;;
    *) stamp=$stamp-pure ;;
    esac
    [ -x "$python" ] && [ -s "$stamp" ] || return 1
    # Kernels that one compiler could not build are tried again when there is another.
    uncompiled=$root/.venv/stamps/uncompiled
    if [ -e "$uncompiled" ] && [ "$stamp" = "${stamp%-pure}" ] &&
        [ "$(command -v "${CC:-cc}")" != "$(cat "$uncompiled")" ]; then
        return 1
    fi
    if command -v sha256sum >/dev/null; then
        sha256sum --check --status "$stamp" 2>/dev/null
    else
        shasum -a 256 --check --status "$stamp" 2>/dev/null
    fi
}

make_environment() {
    for candidate in ${MOLDAU_PYTHON:+"$MOLDAU_PYTHON"} python3 python3.11 python3.12 \
        python3.13 python3.14 python3.15; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            "$candidate" "$root/bin/environment" "$profile"
            return
        fi
    done
    echo "moldau: needs Python 3.11 or newer, and found none" >&2
    echo "  apt-get install -y python3 python3-venv    (macOS: brew install python)" >&2
    echo "  or name one: MOLDAU_PYTHON=/path/to/python3 $0" >&2
    return 1
}

environment_is_fresh || make_environment || exit
