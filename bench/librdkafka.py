"""The load generator that uses the system's librdkafka."""

from bench.compiled import run_compiled


def run_load(*arguments: str) -> dict[str, float]:
    """Run it to its end; what it printed."""
    return run_compiled("load", *arguments, library="rdkafka")
