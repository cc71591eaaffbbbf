"""Sessions are for drivers; that they begin is shown by those who use them."""

from pathlib import Path

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from moldau.spark.remote import NeedsDriver
from moldau.spark.session import end_session, is_alive, session_in


def test_a_server_of_connect_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(NeedsDriver, match="Give a master like"):
        session_in(tmp_path / "log", "app", "sc://localhost", {})
    assert not (tmp_path / "log").exists()


class Gone:
    """A session whose JVM does not answer."""

    @property
    def sparkContext(self) -> object:  # noqa: N802 - Spark's name
        raise Py4JNetworkError("no answer")

    def stop(self) -> None:
        raise ConnectionRefusedError


def test_a_session_whose_jvm_is_gone_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    # All that is forgotten comes back after this test: others of this process have a session.
    places = [
        *((SparkContext, name) for name in ("_gateway", "_jvm", "_active_spark_context")),
        *((SparkSession, name) for name in ("_instantiatedSession", "_activeSession")),
    ]
    for place, name in places:
        monkeypatch.setattr(place, name, object())
    gone: SparkSession = Gone()  # type: ignore[assignment]
    assert not is_alive(gone)
    end_session(gone)
    assert [getattr(place, name) for place, name in places] == [None] * len(places)
