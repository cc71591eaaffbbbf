"""What users of Java's Kafka tell the virtual machine."""

import pytest

from moldau.runtime.java_options import java_properties


def test_system_properties_are_found_among_other_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_OPTS", "-Xmx1g -Da.b=c=d -Dflag  -verbose")
    assert java_properties() == {"a.b": "c=d", "flag": ""}


def test_there_need_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_OPTS", raising=False)
    assert java_properties() == {}
