"""The mark of a test that runs Apache Kafka."""

import pytest

from conformance.apache.jars import read_lock


def needs_apache(*class_paths: str) -> pytest.MarkDecorator:
    """Java for the test itself; Maven only as long as a jar is missing from the cache."""
    jars = [jar for name in class_paths for jar in read_lock()[name]]
    fetching = () if all(jar.path.exists() for jar in jars) else ("mvn",)
    return pytest.mark.needs("java", "javac", *fetching)
