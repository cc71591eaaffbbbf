"""Reads `sasl.jaas.config`, in which Java's clients keep user and password."""

import re

from moldau.config.values import invalid

_NAME = "sasl.jaas.config"
_CONFIG = re.compile(r"\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)\b(.*);\s*", re.S)
_OPTION = re.compile(
    r"\s*([\w.]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^\s;\"']+))"
)


def read_jaas_config(text: str) -> dict[str, str]:
    """The options of the one login module; InvalidConfig if there is none.

    The text is not repeated in the error: there are passwords in it.
    """
    match = _CONFIG.fullmatch(text)
    if match is None:
        raise _wrong()
    options: dict[str, str] = {}
    rest = match[2]
    while rest.strip():
        option = _OPTION.match(rest)
        if option is None:
            raise _wrong()
        quoted = option[2] if option[2] is not None else option[3]
        value = option[4] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        options[option[1]] = value
        rest = rest[option.end() :]
    return options


def _wrong() -> Exception:
    return invalid(_NAME, "(hidden)", 'a login module, as in: Module required username="u";')
