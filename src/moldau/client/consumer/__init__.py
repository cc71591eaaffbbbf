"""Reading from topics: what is assigned, fetched ahead of the user, and handed out."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moldau.client.consumer.consumer import Consumer

__all__ = ["Consumer"]


def __getattr__(name: str) -> object:
    """Load the consumer when it is asked for: its parts are used without it."""
    if name in __all__:
        from moldau.client.consumer import consumer  # noqa: PLC0415

        return getattr(consumer, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
