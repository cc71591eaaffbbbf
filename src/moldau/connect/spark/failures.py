"""Errors of connectors on their way from a task of Spark to the worker, as texts.

An error that Spark itself carries arrives as part of Spark's own report; one that is part of a
task's result arrives as it was, and Spark does not try the task again.
"""

import json
import traceback

from moldau.connect.errors import (
    ConfigError,
    ConnectError,
    DataError,
    RetriableConnectError,
    SchemaError,
)

_KINDS: dict[str, type[ConnectError]] = {
    each.__name__: each
    for each in (ConfigError, ConnectError, DataError, RetriableConnectError, SchemaError)
}


def as_text(error: Exception) -> str:
    """What the worker has to know of an error."""
    kind = next((each for each in type(error).__mro__ if each.__name__ in _KINDS), ConnectError)
    message = str(error) if isinstance(error, ConnectError) else f"{type(error).__name__}: {error}"
    trace = "".join(traceback.format_exception(error))
    return json.dumps({"kind": kind.__name__, "message": message, "trace": trace})


def from_text(text: str) -> ConnectError:
    """The error, with where it arose as a note."""
    found = json.loads(text)
    error = _KINDS[found["kind"]](found["message"])
    error.add_note(f"In a task of Spark:\n{found['trace']}")
    return error
