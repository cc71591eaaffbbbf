"""The message for a setting that does not exist."""

from collections.abc import Iterable

from moldau.config.values import config_error
from moldau.errors import KafkaError


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that `name` was probably meant to be, or the empty string."""
    from difflib import get_close_matches  # noqa: PLC0415 - slow to import, seldom needed

    matches = get_close_matches(name, list(known), n=1, cutoff=0.75)
    return matches[0] if matches else ""


def unknown(kind: str, name: str, known: Iterable[str]) -> KafkaError:
    """InvalidConfig for an unknown `kind` (topic, broker, ...) setting called `name`."""
    meant = nearest(name, known)
    hint = f"; did you mean {meant}?" if meant else ""
    return config_error(f"Unknown {kind} config name: {name}{hint}")
