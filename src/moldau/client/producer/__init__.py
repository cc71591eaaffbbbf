"""Writing to topics: records become batches, batches go to leaders, and what became of them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moldau.client.producer.producer import Producer, Receipt

__all__ = ["Producer", "Receipt"]


def __getattr__(name: str) -> object:
    """Load the producer when it is asked for: its parts are used without it."""
    if name in __all__:
        from moldau.client.producer import producer  # noqa: PLC0415

        return getattr(producer, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
