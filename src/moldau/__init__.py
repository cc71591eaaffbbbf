"""Event streaming compatible with Apache Kafka: broker, clients, tools, Spark pipelines."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moldau.client.producer import Producer

__version__ = "0.1.0"
__all__ = ["Producer"]


def __getattr__(name: str) -> object:
    """Load a client when it is first used: importing the package stays light."""
    if name == "Producer":
        from moldau.client.producer import Producer  # noqa: PLC0415

        return Producer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
