"""Traces across topics with OpenTelemetry: the headers of records carry them.

    Producer(header_hook=telemetry.carry, …)
    with tracer.start_as_current_span("handle", context=telemetry.context_of(record)): …

Both may be used where `opentelemetry-api` is not installed: then there are no traces.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from moldau.client.record import Headers

if TYPE_CHECKING:
    from opentelemetry.context import Context

    from moldau.client.record import ConsumerRecord

propagate: ModuleType | None
try:
    from opentelemetry import propagate as installed

    propagate = installed
except ImportError:
    propagate = None


def carry(_topic: str, headers: Headers) -> Headers:
    """The headers, with the trace that is current; for a producer's `header_hook`."""
    if propagate is None:
        return headers
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return [*headers, *((name, value.encode()) for name, value in carrier.items())]


def context_of(record: "ConsumerRecord[Any, Any]") -> "Context | None":
    """The trace in which a record was sent, for spans that go on with it."""
    if propagate is None:
        return None
    found: Context = propagate.extract(_texts(record.headers))
    return found


def _texts(headers: Sequence[tuple[str, bytes | None]]) -> dict[str, str]:
    return {name: value.decode(errors="replace") for name, value in headers if value is not None}
