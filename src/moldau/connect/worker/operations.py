"""What can be asked of a worker: connectors made, changed, paused, restarted, moved back."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from moldau.connect.config.validation import Validation, validate
from moldau.connect.connector import Source
from moldau.connect.errors import ConfigError
from moldau.connect.storage.cluster_state import PAUSED, STARTED, STOPPED
from moldau.connect.storage.records import Status, connector_config, target_state
from moldau.connect.worker.herder import Herder, RunningConnector
from moldau.connect.worker.plugins import Plugin
from moldau.connect.worker.task import FAILED
from moldau.web.errors import WebError

_BAD, _NOT_FOUND, _CONFLICT = 400, 404, 409
_INITIAL = {"RUNNING": STARTED, "PAUSED": PAUSED, "STOPPED": STOPPED}
Config = Mapping[str, str]


@dataclass(slots=True)
class Operations:
    """Checks what is asked for, writes it down, and has the herder follow."""

    herder: Herder

    # Asking

    def names(self) -> list[str]:
        """All connectors."""
        return list(self.herder.state.configs)

    def config(self, name: str) -> dict[str, str]:
        """The settings of a connector."""
        found = self.herder.state.configs.get(name)
        if found is None:
            raise WebError(_NOT_FOUND, f"Connector {name} not found")
        return found

    def info(self, name: str, *, is_new: bool = False) -> dict[str, object]:
        """What a connector is."""
        config = self.config(name)
        count = 0 if is_new else len(self.herder.state.tasks.get(name, []))
        tasks = [{"connector": name, "task": number} for number in range(count)]
        return {"name": name, "config": config, "tasks": tasks, "type": self._kind(config)}

    def _kind(self, config: Config) -> str:
        try:
            return self.herder.plugins.find(config.get("connector.class", "")).kind
        except ConfigError:
            return "unknown"

    def status(self, name: str) -> dict[str, object]:
        """How a connector and its tasks are."""
        running = self.herder.running.get(name)
        if running is None or name not in self.herder.state.configs:
            raise WebError(_NOT_FOUND, f"No status found for connector {name}")
        return _status(name, running)

    def task_status(self, name: str, task: int) -> dict[str, object]:
        """How one task is."""
        running = self.herder.running.get(name)
        found = None if running is None else running.task_statuses.get(task)
        if found is None:
            raise WebError(_NOT_FOUND, f"No status found for task {name}-{task}")
        return _entry(found, task)

    def tasks(self, name: str) -> list[dict[str, object]]:
        """The tasks with their settings."""
        self.config(name)
        listed = self.herder.state.tasks.get(name, [])
        return [
            {"id": {"connector": name, "task": number}, "config": each}
            for number, each in enumerate(listed)
        ]

    # Settings

    def plugin(self, config: Config) -> Plugin:
        """The class that settings name."""
        name = config.get("connector.class")
        if name is None:
            shown = ", ".join(f"{key}={text}" for key, text in sorted(config.items()))
            raise WebError(_BAD, f"Connector config {{{shown}}} contains no connector type")
        try:
            return self.herder.plugins.find(name)
        except ConfigError as error:
            raise WebError(_BAD, str(error)) from error

    async def validate(self, config: Config) -> Validation:
        """Check settings, with values of providers; what is answered does not show them."""
        plugin = self.plugin(config)
        resolved = self.resolved(config)
        found = validate(plugin.name, plugin.kind, plugin.settings, resolved)
        connector = plugin.connector
        if not found.errors and issubclass(connector, Source):
            problems = await asyncio.to_thread(connector.problems, resolved)
            for name, problem in problems.items():
                found.add(name, problem)
        for each in found.checked:
            given = config.get(each.setting.name)
            if given is not None and given != resolved[each.setting.name]:
                each.value = given
            each.errors = [self.herder.settings.providers.hide(error) for error in each.errors]
        return found

    def resolved(self, config: Config) -> dict[str, str]:
        """Settings with values of providers in them: never to be answered or written."""
        try:
            return self.herder.settings.providers.resolved(config)
        except ConfigError as error:
            raise WebError(_BAD, str(error)) from error

    async def create(
        self, name: str, config: Config, initial_state: str | None
    ) -> dict[str, object]:
        """Make a connector that is not there."""
        given = config.get("name", name)
        if given != name:
            raise WebError(_BAD, _other_name(given, name))
        if initial_state is not None and initial_state not in _INITIAL:
            states = ", ".join(_INITIAL)
            raise WebError(_BAD, f"initial_state: {initial_state} is none of {states}")
        wanted = {**config, "name": name}
        await self._check(wanted)
        if name in self.herder.state.configs:
            raise WebError(_CONFLICT, f"Connector {name} already exists")
        target = None if initial_state is None else _INITIAL[initial_state]
        await self._write(name, wanted, target)
        return self.info(name, is_new=True)

    async def put(self, name: str, config: Config) -> tuple[dict[str, object], bool]:
        """Change a connector, or make it; says whether it is new."""
        given = config.get("name", name)
        if given != name:
            raise WebError(_BAD, _other_name(given, name))
        is_new = name not in self.herder.state.configs
        wanted = {**config, "name": name}
        await self._check(wanted)
        await self._write(name, wanted, None)
        return self.info(name, is_new=is_new), is_new

    async def patch(self, name: str, changes: Mapping[str, str | None]) -> dict[str, object]:
        """Change some settings (KIP-477): null takes one away."""
        merged: dict[str, str | None] = {**self.config(name), **changes}
        kept = {key: text for key, text in merged.items() if text is not None}
        found, _ = await self.put(name, kept)
        return found

    async def _check(self, config: Config) -> None:
        found = await self.validate(config)
        if found.errors:
            raise WebError(_BAD, found.message())

    async def _write(self, name: str, config: dict[str, str], target: str | None) -> None:
        state = self.herder.state
        records = [connector_config(name, config)]
        if target is not None:
            records.insert(0, target_state(name, target))
        await self.herder.writer.write_configs(records)
        state.configs[name] = config
        state.targets[name] = target or state.targets.get(name, STARTED)
        self.herder.align(name)

    async def delete(self, name: str) -> None:
        """Take a connector away; its offsets stay."""
        self.config(name)
        state = self.herder.state
        await self.herder.writer.write_configs(
            [connector_config(name, None), target_state(name, None)]
        )
        state.configs.pop(name, None)
        state.targets.pop(name, None)
        state.tasks.pop(name, None)
        self.herder.align(name)

    # RunningConnector

    async def set_target(self, name: str, target: str) -> None:
        """Pause, resume or stop."""
        state = self.herder.state
        if name not in state.configs:
            raise WebError(_NOT_FOUND, f"Unknown connector {name}")
        if state.targets.get(name) != target:
            await self.herder.writer.write_configs([target_state(name, target)])
            state.targets[name] = target
        self.herder.align(name)

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> dict[str, object]:
        """Begin a connector anew, and if wanted its tasks; returns what is affected (KIP-745)."""
        if name not in self.herder.state.configs:
            raise WebError(_NOT_FOUND, f"Unknown connector: {name}")
        running = self.herder.running.get(name)
        if running is None:
            raise WebError(_NOT_FOUND, f"Status for connector {name} not found")
        shown = _status(name, running)
        connector = not only_failed or running.status.state == FAILED
        numbers = frozenset(
            number
            for number, each in running.task_statuses.items()
            if include_tasks and (not only_failed or each.state == FAILED)
        )
        if connector:
            shown["connector"] = _restarting(shown["connector"])
        listed = shown["tasks"]
        assert isinstance(listed, list), "made as a list"
        shown["tasks"] = [_restarting(each) if each["id"] in numbers else each for each in listed]
        self.herder.restart(name, connector=connector, tasks=numbers)
        return shown

    def restart_task(self, name: str, task: int) -> None:
        """Begin one task anew."""
        if name not in self.herder.state.configs:
            raise WebError(_NOT_FOUND, f"Unknown connector: {name}")
        if task >= len(self.herder.state.tasks.get(name, [])):
            raise WebError(_NOT_FOUND, f"Unknown task: {name}-{task}")
        self.herder.restart(name, connector=False, tasks=frozenset({task}))


def _other_name(given: str, name: str) -> str:
    return (
        f"Connector name configuration ({given}) doesn't match connector name in the URL ({name})"
    )


def _restarting(entry: object) -> dict[str, object]:
    assert isinstance(entry, dict), "made as one"
    found = {key: each for key, each in entry.items() if key != "trace"}
    return {**found, "state": "RESTARTING"}


def _status(name: str, running: RunningConnector) -> dict[str, object]:
    tasks = sorted(running.task_statuses.items())
    return {
        "name": name,
        "connector": _entry(running.status),
        "tasks": [_entry(each, number) for number, each in tasks],
        "type": running.kind,
    }


def _entry(status: Status, task: int | None = None) -> dict[str, object]:
    found: dict[str, object] = {} if task is None else {"id": task}
    found |= {"state": status.state, "worker_id": status.worker_id}
    if status.trace is not None:
        found["trace"] = status.trace
    return found
