"""Values of settings that are kept elsewhere: `${file:PATH:KEY}`, `${env:NAME}` and the like.

The names are Kafka's (KIP-297, KIP-421). Only what the worker's file names is provided. Values
are asked for when something starts, and are remembered so that texts for people do not show them.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from moldau.config.properties import decode_properties
from moldau.connect.config.values import below, listed, required
from moldau.connect.errors import ConfigError

Provide = Callable[[str, str], str | None]
"""The value of a path and a key; None if there is none."""

_PACKAGE = "org.apache.kafka.common.config.provider."
_PLACEHOLDER = re.compile(r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}")


class ConfigProviders:
    """Those that `config.providers` of a worker lists; ConfigError if one cannot be."""

    def __init__(self, worker: Mapping[str, str] | None = None) -> None:
        self._known: dict[str, Provide] = {}
        self._seen: dict[str, str] = {}
        for name in listed(worker or {}, "config.providers"):
            own = below(worker or {}, f"config.providers.{name}.")
            given = required(worker or {}, f"config.providers.{name}.class")
            make = _MAKERS.get(given.removeprefix(_PACKAGE))
            if make is None:
                classes = ", ".join(f"{_PACKAGE}{each}" for each in _MAKERS)
                raise ConfigError(
                    f"config.providers.{name}.class: there is no {given}, only {classes}"
                )
            self._known[name] = make(below(own, "param."))

    def resolved(self, config: Mapping[str, str]) -> dict[str, str]:
        """The settings with values in the place of their names; reads files."""
        return {name: self._text(name, text) for name, text in config.items()}

    def _text(self, name: str, text: str) -> str:
        return _PLACEHOLDER.sub(lambda found: self._value(name, found), text)

    def _value(self, name: str, found: re.Match[str]) -> str:
        provider, path, key = found.groups(default="")
        if provider not in self._known:
            return found[0]
        try:
            value = self._known[provider](path, key)
        except (ConfigError, OSError) as error:
            why = (isinstance(error, OSError) and error.strerror) or str(error)
            raise ConfigError(f"{name}: {found[0]}: {why}") from None
        if value is None:
            raise ConfigError(f"{name}: {found[0]}: there is no such value")
        if value:
            self._seen[value] = found[0]
        return value

    def hide(self, text: str) -> str:
        """A text with the names of values in the place of the values."""
        if not self._seen:
            return text
        seen = dict(self._seen)
        # The longest first, and all at once: a value may be part of another, or of a name.
        longest_first = sorted(seen, key=len, reverse=True)
        pattern = "|".join(re.escape(each) for each in longest_first)
        return re.sub(pattern, lambda found: seen[found[0]], text)


def _file(parameters: Mapping[str, str]) -> Provide:
    allowed = _allowed_paths(parameters)

    def provide(path: str, key: str) -> str | None:
        return decode_properties(_checked(path, allowed).read_bytes()).get(key)

    return provide


def _directory(parameters: Mapping[str, str]) -> Provide:
    allowed = _allowed_paths(parameters)

    def provide(path: str, key: str) -> str | None:
        if key != os.path.basename(key) or key in ("", ".", ".."):
            raise ConfigError(f"{key!r} is no name of a file")
        file = _checked(str(Path(_named(path), key)), allowed)
        return file.read_text(encoding="utf-8") if file.is_file() else None

    return provide


def _environment(parameters: Mapping[str, str]) -> Provide:
    text = parameters.get("allowlist.pattern", ".*")
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise ConfigError(f"allowlist.pattern: {text} is no pattern: {error}") from error

    def provide(path: str, key: str) -> str | None:
        if path:
            raise ConfigError("variables of the environment have no path")
        return os.environ.get(key) if pattern.fullmatch(key) else None

    return provide


_MAKERS: dict[str, Callable[[Mapping[str, str]], Provide]] = {
    "FileConfigProvider": _file,
    "EnvVarConfigProvider": _environment,
    "DirectoryConfigProvider": _directory,
}


def _allowed_paths(parameters: Mapping[str, str]) -> list[Path] | None:
    """Where files may be; anywhere if nothing is said."""
    if "allowed.paths" not in parameters:
        return None
    found = [Path(each) for each in listed(parameters, "allowed.paths")]
    for each in found:
        if not each.is_absolute() or not each.exists():
            raise ConfigError(f"allowed.paths: {each} is no absolute path of something")
    return [each.resolve() for each in found]


def _named(path: str) -> str:
    if not path:
        raise ConfigError("it names no path")
    return path


def _checked(path: str, allowed: list[Path] | None) -> Path:
    # Links are followed first: one that leads out of the allowed paths is refused.
    found = Path(_named(path)).resolve()
    if allowed is not None and not any(found.is_relative_to(each) for each in allowed):
        raise ConfigError("it is not below allowed.paths")
    return found
