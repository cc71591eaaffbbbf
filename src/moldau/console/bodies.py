"""Fields of bodies: of the type that is meant, or refused by name."""

from collections.abc import Collection, Mapping

from moldau.model import TopicPartition
from moldau.web.errors import WebError

Sent = Mapping[str, object]
_LISTED_MAX = 10_000


def text_of(sent: Sent, name: str, default: str | None = None) -> str:
    """A text that is not empty; the default if the field is left out."""
    found = sent.get(name)
    if found is None and default is not None:
        return default
    if not isinstance(found, str) or not found:
        raise WebError(400, f"{name}: a text that is not empty")
    return found


def choice_of(sent: Sent, name: str, known: Collection[str], default: str | None = None) -> str:
    """One of the words that there are."""
    found = text_of(sent, name, default).lower()
    if found not in known:
        raise WebError(400, f"{name}: one of {', '.join(known)}")
    return found


def whole_of(sent: Sent, name: str, default: int | None = None, *, low: int = 0) -> int:
    """A whole number that is not less than `low`."""
    found = sent.get(name)
    if found is None and default is not None:
        return default
    if not isinstance(found, int) or isinstance(found, bool) or found < low:
        raise WebError(400, f"{name}: a whole number, {low} or more")
    return found


def objects_of(sent: Sent, name: str) -> list[Sent]:
    """A list of objects, not empty."""
    found = sent.get(name)
    if not isinstance(found, list) or not found or len(found) > _LISTED_MAX:
        raise WebError(400, f"{name}: a list of 1 to {_LISTED_MAX} objects")
    if not all(isinstance(each, dict) for each in found):
        raise WebError(400, f"{name}: a list of objects")
    return found


def partition_of(sent: Sent) -> TopicPartition:
    """The partition that the fields `topic` and `partition` name."""
    return TopicPartition(text_of(sent, "topic"), whole_of(sent, "partition"))


def confirm(sent: Sent, expected: str, what: str) -> None:
    """Refuse what is not confirmed by typing the name again, so that a slip does nothing."""
    if sent.get("confirm") != expected:
        raise WebError(400, f"confirm: send {expected} again to {what}")
