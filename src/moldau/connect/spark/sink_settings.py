"""How a sink's settings read as options of a streaming read."""

import re
from collections.abc import Iterable, Mapping

from moldau.connect.config.values import listed, number
from moldau.connect.errors import ConfigError
from moldau.connect.spark.sink_tasks import COLUMNS
from moldau.connect.worker.settings import WorkerSettings

INTERVAL, RECORDS = "trigger.interval.ms", "trigger.records.max"
_INTERVAL_MS, _RECORDS_MAX = 5000, 50_000
_POLL_MS = 2000
"""How often an idle query asks for news, which costs some milliseconds of processor time."""
_BACKLOG = 1000
"""So many records are worth a batch before its time."""
_RESET = "auto.offset.reset"
# What a consumer has, and Spark's source does by itself.
_LEFT_OUT = frozenset({"group.id", "enable.auto.commit", "client.id", _RESET})


def group_of(name: str, config: Mapping[str, str]) -> str:
    """The group that a sink commits to."""
    return config.get("consumer.override.group.id", f"connect-{name}")


def interval_ms(settings: WorkerSettings, config: Mapping[str, str]) -> int:
    """How long records may wait for a batch, where they are few."""
    return number({**settings.properties, **config}, INTERVAL, _INTERVAL_MS)


def trigger(settings: WorkerSettings, config: Mapping[str, str]) -> dict[str, str] | None:
    """How often a query asks for news; None for as often as it can."""
    wait_ms = min(interval_ms(settings, config), _POLL_MS)
    return {"processingTime": f"{wait_ms} milliseconds"} if wait_ms > 0 else None


def source_options(
    settings: WorkerSettings, name: str, config: Mapping[str, str], known: Iterable[str]
) -> dict[str, str]:
    """The options of `format("moldau")`, given the topics that are there.

    Topics that are not there yet are waited for, as a consumer does: by a pattern, since a query
    cannot begin with the name of a topic that is missing.
    """
    client = {"isolation.level": "read_committed", **settings.client("consumer.", config)}
    if str(client.get(_RESET, "earliest")) != "earliest":
        raise ConfigError(
            f"{_RESET}: with engine=spark a sink begins at the earliest record; to begin "
            "elsewhere stop it, set its offsets, and resume it"
        )
    topics, pattern = listed(config, "topics"), config.get("topics.regex")
    if not pattern and not set(topics) <= set(known):
        pattern = "|".join(map(re.escape, topics))
    records = number({**settings.properties, **config}, RECORDS, _RECORDS_MAX)
    found = {f"kafka.{key}": str(text) for key, text in client.items() if key not in _LEFT_OUT}
    found |= {"subscribePattern": pattern} if pattern else {"subscribe": ",".join(topics)}
    return found | {
        "columns": ",".join(COLUMNS),
        "startingOffsets": "committed",
        "commitGroup": group_of(name, config),
        # Records that are gone before they were read are passed over, as consumers do.
        "failOnDataLoss": "false",
        "maxPartitions": str(number(config, "tasks.max", 1)),
        "maxOffsetsPerTrigger": str(records),
        "minOffsetsPerTrigger": str(min(records, _BACKLOG)),
        "maxTriggerDelay": f"{interval_ms(settings, config)}ms",
    }
