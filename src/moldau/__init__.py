"""Event streaming compatible with Apache Kafka: broker, clients, tools, Spark pipelines."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moldau.client.admin.admin import Admin
    from moldau.client.arrow.reading import read_topic, stream_topic
    from moldau.client.consumer.consumer import Consumer
    from moldau.client.producer.producer import Producer

__version__ = "0.1.0"
__all__ = ["Admin", "Consumer", "Producer", "read_topic", "stream_topic"]

_MODULES = {
    "Admin": "admin.admin",
    "Consumer": "consumer.consumer",
    "Producer": "producer.producer",
    "read_topic": "arrow.reading",
    "stream_topic": "arrow.reading",
}


def __getattr__(name: str) -> object:
    """Load what is asked for when it is first used: importing the package stays light."""
    if name in _MODULES:
        from importlib import import_module  # noqa: PLC0415

        found: object = getattr(import_module(f"moldau.client.{_MODULES[name]}"), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
