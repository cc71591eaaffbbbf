"""Texts of settings as what they mean."""

from collections.abc import Mapping

from moldau.connect.errors import ConfigError


def flag(settings: Mapping[str, str], name: str, *, default: bool) -> bool:
    """A setting that is true or false."""
    text = settings.get(name)
    if text is None:
        return default
    if text.strip().lower() not in ("true", "false"):
        raise ConfigError(
            f"Invalid value {text} for configuration {name}: "
            "Expected value to be either true or false"
        )
    return text.strip().lower() == "true"


def number(settings: Mapping[str, str], name: str, default: int) -> int:
    """A setting that is a whole number."""
    text = settings.get(name)
    if text is None:
        return default
    try:
        return int(text.strip())
    except ValueError as error:
        raise ConfigError(
            f"Invalid value {text} for configuration {name}: Not a number of type INT"
        ) from error


def listed(settings: Mapping[str, str], name: str) -> list[str]:
    """A setting that is a list, with commas between."""
    return [each.strip() for each in settings.get(name, "").split(",") if each.strip()]


def required(settings: Mapping[str, str], name: str) -> str:
    """A setting that has no default."""
    if name not in settings:
        raise ConfigError(f'Missing required configuration "{name}" which has no default value.')
    return settings[name]


def below(settings: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The settings with a prefix, without it."""
    return {
        name.removeprefix(prefix): text
        for name, text in settings.items()
        if name.startswith(prefix) and name != prefix
    }
