"""Topics in Spark: `format("moldau")` with the options of Spark's own, and exactly once."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moldau.spark.exactly_once import write_stream
    from moldau.spark.source import register

__all__ = ["register", "write_stream"]

_MODULES = {"register": "source", "write_stream": "exactly_once"}


def __getattr__(name: str) -> object:
    """Load what is asked for when it is first used: executors need but a part of it."""
    if name in _MODULES:
        from importlib import import_module  # noqa: PLC0415

        found: object = getattr(import_module(f"moldau.spark.{_MODULES[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
