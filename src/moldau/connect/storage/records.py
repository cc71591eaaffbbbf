"""Keys and values of the three topics, as Apache's workers write them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

CONNECTOR, TARGET_STATE, TASK, COMMIT = "connector-", "target-state-", "task-", "commit-"
SESSION_KEY = "session-key"
_STATUS_CONNECTOR, _STATUS_TASK, _STATUS_TOPIC = (
    "status-connector-",
    "status-task-",
    "status-topic-",
)


@dataclass(frozen=True, slots=True)
class KeyedValue:
    """One record of a topic; without a value it deletes what was under the key."""

    key: str
    value: object = None

    def encoded(self) -> tuple[bytes, bytes | None]:
        """As bytes."""
        return self.key.encode(), None if self.value is None else compact(self.value)


def compact(value: object) -> bytes:
    """JSON as Connect's converter writes it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def connector_config(name: str, config: Mapping[str, str] | None) -> KeyedValue:
    """The settings of a connector."""
    return KeyedValue(
        f"{CONNECTOR}{name}", None if config is None else {"properties": dict(config)}
    )


def target_state(name: str, state: str | None) -> KeyedValue:
    """What a connector should be: older workers know no STOPPED and see PAUSED."""
    if state is None:
        return KeyedValue(f"{TARGET_STATE}{name}")
    older = "PAUSED" if state == "STOPPED" else state
    return KeyedValue(f"{TARGET_STATE}{name}", {"state": older, "state.v2": state})


def task_config(name: str, task: int, config: Mapping[str, str]) -> KeyedValue:
    """The settings of one task."""
    return KeyedValue(f"{TASK}{name}-{task}", {"properties": dict(config)})


def task_commit(name: str, count: int) -> KeyedValue:
    """How many tasks there are; the settings before it count from here on."""
    return KeyedValue(f"{COMMIT}{name}", {"tasks": count})


def offset_key(connector: str, partition: Mapping[str, object]) -> bytes:
    """The key under which a source's offset is kept."""
    return compact([connector, dict(partition)])


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a connector or a task."""

    state: str
    worker_id: str
    trace: str | None = None
    generation: int = 0

    def as_json(self) -> dict[str, object]:
        """As the topic keeps it."""
        return {
            "state": self.state,
            "trace": self.trace,
            "worker_id": self.worker_id,
            "generation": self.generation,
        }


def connector_status(name: str, status: Status | None) -> KeyedValue:
    """The state of a connector; None when it is deleted."""
    return KeyedValue(f"{_STATUS_CONNECTOR}{name}", None if status is None else status.as_json())


def task_status(name: str, task: int, status: Status | None) -> KeyedValue:
    """The state of a task; None when it is deleted."""
    value = None if status is None else status.as_json()
    return KeyedValue(f"{_STATUS_TASK}{name}-{task}", value)


def active_topic(connector: str, topic: str, task: int, now_ms: int | None) -> KeyedValue:
    """That a connector uses a topic (KIP-558); without a time that it is forgotten."""
    key = f"{_STATUS_TOPIC}{topic}:connector-{connector}"
    if now_ms is None:
        return KeyedValue(key)
    known = {"name": topic, "connector": connector, "task": task, "discoverTimestamp": now_ms}
    return KeyedValue(key, {"topic": known})


def topic_of_status(key: str) -> tuple[str, str] | None:
    """Topic and connector of such a key."""
    if not key.startswith(_STATUS_TOPIC):
        return None
    topic, found, connector = key.removeprefix(_STATUS_TOPIC).partition(":connector-")
    return (topic, connector) if found else None
