"""Reads JAAS, the notation in which Java's programs keep user and password."""

import re
from dataclasses import dataclass, field

from moldau.config.values import config_error, invalid

_MODULE = re.compile(r"\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)\b(.*);\s*", re.S)
_OPTION = re.compile(
    r"\s*([\w.]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^\s;\"']+))"
)
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
_COMMENT = re.compile(rf"({_QUOTED})|//[^\n]*|/\*.*?\*/", re.S)
_SECTION = re.compile(rf"\s*([\w.-]+)\s*\{{((?:{_QUOTED}|[^}}\"'])*)\}}\s*;\s*", re.S)
_FIRST_MODULE = re.compile(rf"(?:{_QUOTED}|[^;\"'])*;", re.S)


@dataclass(frozen=True, slots=True)
class LoginModule:
    """How to log in: the Java class that would do it, and its options."""

    name: str
    options: dict[str, str] = field(repr=False)


def read_jaas_config(text: str) -> dict[str, str]:
    """The options of the one login module in `sasl.jaas.config`."""
    return read_login_module(text, "sasl.jaas.config").options


def read_login_module(text: str, setting: str) -> LoginModule:
    """The one login module of a setting; InvalidConfig if there is none.

    The text is not repeated in the error: there are passwords in it.
    """
    match = _MODULE.fullmatch(text)
    if match is None:
        raise _wrong(setting)
    options: dict[str, str] = {}
    rest = match[2]
    while rest.strip():
        option = _OPTION.match(rest)
        if option is None:
            raise _wrong(setting)
        quoted = option[2] if option[2] is not None else option[3]
        value = option[4] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        options[option[1]] = value
        rest = rest[option.end() :]
    return LoginModule(match[1], options)


def read_jaas_file(text: str, path: str) -> dict[str, LoginModule]:
    """The first login module of each section of a login file."""
    rest = _COMMENT.sub(lambda found: found[1] or " ", text)
    modules: dict[str, LoginModule] = {}
    while rest.strip():
        section = _SECTION.match(rest)
        module = None if section is None else _FIRST_MODULE.match(section[2])
        if section is None or module is None:
            raise config_error(f"{path}: not a login file, as in: Client {{ Module required; }};")
        modules[section[1]] = read_login_module(module[0], path)
        rest = rest[section.end() :]
    return modules


def _wrong(setting: str) -> Exception:
    return invalid(setting, "(hidden)", 'a login module, as in: Module required username="u";')
