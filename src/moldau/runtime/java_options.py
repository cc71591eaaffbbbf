"""The environment variables by which users of Java's Kafka configure the virtual machine."""

import os

_VARIABLE = "KAFKA_OPTS"


def java_properties() -> dict[str, str]:
    """The system properties in `KAFKA_OPTS`, which are words like `-Dname=value`."""
    words = os.environ.get(_VARIABLE, "").split()
    pairs = (word[2:].partition("=") for word in words if word.startswith("-D"))
    return {name: value for name, _, value in pairs}
