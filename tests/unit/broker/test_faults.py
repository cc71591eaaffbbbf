"""Why a broker could not start or go on, in a sentence for its operator."""

import pytest

from moldau.broker.faults import failure_of
from moldau.broker.storage.maintenance import EveryDirectoryOffline
from moldau.coordination.tree import ConnectionLost
from moldau.errors import ErrorCode, KafkaError
from moldau.log.directory import NotOurs


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (NotOurs("/data is in use"), "/data is in use"),
        (EveryDirectoryOffline("all offline"), "all offline"),
        (PermissionError(13, "Permission denied", "/data"), "Permission denied: /data"),
        (OSError(98, "cannot listen on :9092"), "cannot listen on :9092"),
        (OSError("odd"), "odd"),
        (ExceptionGroup("", [ExceptionGroup("", [NotOurs("inner")])]), "inner"),
        (KafkaError(ErrorCode.INVALID_CONFIG, "bad value"), "bad value"),
        (ConnectionLost("no ZooKeeper"), "no ZooKeeper"),
    ],
)
def test_what_an_operator_can_mend_is_said_in_a_sentence(error: Exception, sentence: str) -> None:
    assert failure_of(error) == sentence


@pytest.mark.parametrize(
    "error",
    [AssertionError("bug"), ExceptionGroup("", [NotOurs("known"), ZeroDivisionError()])],
)
def test_a_bug_is_not_made_pretty(error: Exception) -> None:
    assert failure_of(error) is None
