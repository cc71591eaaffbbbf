"""Why a broker could not start or go on, in a sentence for its operator."""

from moldau.broker.storage.maintenance import EveryDirectoryOffline
from moldau.coordination.journal import StoreError
from moldau.coordination.tree import SessionError
from moldau.errors import KafkaError
from moldau.log.directory import NotOurs

_EXPECTED = (EveryDirectoryOffline, KafkaError, NotOurs, OSError, SessionError, StoreError)


def failure_of(error: BaseException) -> str | None:
    """The sentence, or None for what only a programmer can explain."""
    if isinstance(error, BaseExceptionGroup):
        found = [failure_of(inner) for inner in error.exceptions]
        return found[0] if None not in found else None
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f": {error.filename}" if error.filename else "")
    return str(error) if isinstance(error, _EXPECTED) else None
