"""Dead letters carry what went wrong, under Connect's names."""

from moldau.connect.errors import DataError
from moldau.connect.worker.dead_letters import (
    TASK_PUT,
    FailedRecord,
    logs_failures,
    queue_of,
    tolerates,
)
from unit.connect.worker.raw import raw

NAME = "errors.deadletterqueue.topic.name"
CONTEXT = "errors.deadletterqueue.context.headers.enable"
FAILURE = FailedRecord(raw(b"v", offset=7), TASK_PUT, "a.Sink", DataError("bad"))


def test_headers_say_where_and_why() -> None:
    queue = queue_of({NAME: "dead", CONTEXT: "true"}, "c", 3)
    assert queue is not None
    found = dict(queue.headers(FAILURE))
    prefix = "__connect.errors."
    assert found["h"] == b"1"
    assert found[prefix + "offset"] == b"7"
    assert found[prefix + "stage"] == b"TASK_PUT"
    assert found[prefix + "task.id"] == b"3"
    assert found[prefix + "exception.message"] == b"bad"
    assert (
        found[prefix + "exception.class.name"] == b"org.apache.kafka.connect.errors.DataException"
    )
    assert len(found) == 11


def test_without_context_the_headers_are_the_records_own() -> None:
    queue = queue_of({NAME: "dead"}, "c", 0)
    assert queue is not None
    assert queue.headers(FAILURE) == [("h", b"1")]
    assert queue_of({}, "c", 0) is None


def test_settings_of_errors() -> None:
    assert tolerates({"errors.tolerance": "ALL"})
    assert not tolerates({})
    assert logs_failures({"errors.log.enable": "true"})
