"""What the topics say: a machine that takes in their records in order.

A connector is there once it has settings and a target state. Settings of tasks count only when
the record that says their number has been read, since they are written one by one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from moldau.connect.storage.records import (
    COMMIT,
    CONNECTOR,
    SESSION_KEY,
    TARGET_STATE,
    TASK,
    compact,
    topic_of_status,
)

STARTED, PAUSED, STOPPED = "STARTED", "PAUSED", "STOPPED"


@dataclass(slots=True)
class ClusterState:
    """Settings, target states, offsets and topics of all connectors."""

    configs: dict[str, dict[str, str]] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    tasks: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    offsets: dict[str, dict[bytes, dict[str, object]]] = field(default_factory=dict)
    """By connector, then by the partition as compact JSON."""
    topics: dict[str, set[str]] = field(default_factory=dict)
    session_key_ms: int = 0
    """When Java's workers last made a key for what they ask each other; ours need none."""
    _pending: dict[str, dict[int, dict[str, str]]] = field(default_factory=dict)

    def apply_config(self, key: bytes | None, value: bytes | None) -> None:
        """Take in a record of the config topic; what is not understood is left out."""
        name, found = (key or b"").decode("utf-8", "replace"), _object(value)
        if name.startswith(CONNECTOR):
            self._connector(name.removeprefix(CONNECTOR), found)
        elif name.startswith(TARGET_STATE):
            state = found.get("state.v2") or found.get("state")
            connector = name.removeprefix(TARGET_STATE)
            if isinstance(state, str):
                self.targets[connector] = state
            elif value is None:
                self.targets.pop(connector, None)
        elif name.startswith(TASK):
            connector, _, number = name.removeprefix(TASK).rpartition("-")
            if number.isdigit() and value is not None:
                self._pending.setdefault(connector, {})[int(number)] = _texts(found)
        elif name.startswith(COMMIT):
            self._commit(name.removeprefix(COMMIT), found)
        elif name == SESSION_KEY:
            made_ms = found.get("creation-timestamp")
            self.session_key_ms = made_ms if isinstance(made_ms, int) else 0

    def _connector(self, name: str, found: Mapping[str, object]) -> None:
        config = _texts(found)
        if config:
            self.configs[name] = config
            self.targets.setdefault(name, STARTED)
            return
        self.configs.pop(name, None)
        self.targets.pop(name, None)
        self.tasks.pop(name, None)
        self._pending.pop(name, None)

    def _commit(self, name: str, found: Mapping[str, object]) -> None:
        count = found.get("tasks")
        pending = self._pending.pop(name, {})
        known = dict(enumerate(self.tasks.get(name, []))) | pending
        if isinstance(count, int) and set(range(count)) <= set(known):
            self.tasks[name] = [known[number] for number in range(count)]

    def apply_offset(self, key: bytes | None, value: bytes | None) -> None:
        """Take in a record of the offsets topic."""
        try:
            connector, partition = json.loads(key or b"null")
        except (ValueError, TypeError):
            return
        if not isinstance(connector, str) or not isinstance(partition, dict):
            return
        known = self.offsets.setdefault(connector, {})
        if value is None:
            known.pop(compact(partition), None)
        else:
            known[compact(partition)] = dict(_object(value))

    def apply_status(self, key: bytes | None, value: bytes | None) -> None:
        """Take in a record of the status topic: of it only the topics are needed later."""
        found = topic_of_status((key or b"").decode("utf-8", "replace"))
        if found is None:
            return
        topic, connector = found
        if value is None:
            self.topics.get(connector, set()).discard(topic)
        else:
            self.topics.setdefault(connector, set()).add(topic)

    def offset_of(
        self, connector: str, partition: Mapping[str, object]
    ) -> dict[str, object] | None:
        """How far a source was read."""
        return self.offsets.get(connector, {}).get(compact(dict(partition)))

    def offsets_of(self, connector: str) -> list[tuple[dict[str, object], dict[str, object]]]:
        """All partitions of a source, and how far they were read."""
        known = self.offsets.get(connector, {})
        return [(json.loads(partition), offset) for partition, offset in known.items()]


def _object(value: bytes | None) -> Mapping[str, object]:
    try:
        found = json.loads(value or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _texts(found: Mapping[str, object]) -> dict[str, str]:
    properties = found.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: str(value) for name, value in properties.items() if value is not None}
