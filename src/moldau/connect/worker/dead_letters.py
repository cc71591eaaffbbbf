"""Records that failed: what becomes of them, how they are named, and what their headers say."""

import traceback
from collections.abc import Mapping
from dataclasses import dataclass

from moldau.client.record import ConsumerRecord
from moldau.connect.config.values import flag
from moldau.connect.errors import java_class_of

_PREFIX = "__connect.errors."
KEY_CONVERTER, VALUE_CONVERTER, HEADER_CONVERTER = (
    "KEY_CONVERTER",
    "VALUE_CONVERTER",
    "HEADER_CONVERTER",
)
TRANSFORMATION, TASK_PUT = "TRANSFORMATION", "TASK_PUT"

Raw = ConsumerRecord[bytes, bytes]


@dataclass(frozen=True, slots=True)
class FailedRecord:
    """A record that could not be brought on, where it failed and why."""

    record: Raw
    stage: str
    executing: str
    error: BaseException


@dataclass(frozen=True, slots=True)
class DeadLetterQueue:
    """Where failed records of a sink go."""

    topic: str
    has_context: bool
    connector: str
    task: int

    def headers(self, failure: FailedRecord) -> list[tuple[str, bytes | None]]:
        """The record's own headers, and if wanted what went wrong, as Connect's tools read it."""
        found = list(failure.record.headers)
        if not self.has_context:
            return found
        error, record = failure.error, failure.record
        context = {
            "topic": record.topic,
            "partition": str(record.partition),
            "offset": str(record.offset),
            "connector.name": self.connector,
            "task.id": str(self.task),
            "stage": failure.stage,
            "class.name": failure.executing,
            "exception.class.name": java_class_of(error),
            "exception.message": str(error),
            "exception.stacktrace": "".join(traceback.format_exception(error)),
        }
        return [*found, *((_PREFIX + name, text.encode()) for name, text in context.items())]


def queue_of(config: Mapping[str, str], connector: str, task: int) -> DeadLetterQueue | None:
    """The queue that a sink's settings name, if they do."""
    topic = config.get("errors.deadletterqueue.topic.name", "").strip()
    if not topic:
        return None
    context = flag(config, "errors.deadletterqueue.context.headers.enable", default=False)
    return DeadLetterQueue(topic, context, connector, task)


def tolerates(config: Mapping[str, str]) -> bool:
    """Whether records that fail are left out."""
    return config.get("errors.tolerance", "none").strip().lower() == "all"


def logs_failures(config: Mapping[str, str]) -> bool:
    """Whether they are logged."""
    return flag(config, "errors.log.enable", default=False)
