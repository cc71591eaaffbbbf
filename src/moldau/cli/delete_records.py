"""Delete records before an offset (kafka-delete-records.sh)."""

import json
from collections.abc import Sequence

from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.options import BOOTSTRAP_SERVER, COMMAND_CONFIG, FORMAT, Option, Options
from moldau.cli.terminal.partition_file import field, partition_of, read_entries, require_unique
from moldau.client.admin.connected import Connected
from moldau.client.admin.offsets import OffsetsArea
from moldau.client.admin.outcomes import Outcomes
from moldau.model import TopicPartition

OPTIONS = Options(
    "delete-records",
    "Deletes the records of partitions before given offsets.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    FORMAT,
    Option(
        "offset-json-file",
        'Partitions and offsets: {"partitions": [{"topic": "t", "partition": 0, "offset": 1}], '
        '"version": 1}; the offset -1 stands for all.',
        "FILE",
    ),
)


class RecordAdmin(OffsetsArea, Connected):
    """What this command needs of an admin client."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    given = OPTIONS.parse(arguments)
    given.require("offset-json-file", "bootstrap-server")
    path = given.text("offset-json-file")
    entries = read_entries(path)
    require_unique(
        (partition_of(each, path) for each in entries),
        "Offset json file contains duplicate topic partitions",
    )
    before = {partition_of(each, path): field(each, "offset", int, path) for each in entries}
    is_json = given.is_json
    if not is_json:
        print("Executing records delete operation")
    outcomes = run_admin(given, RecordAdmin, lambda admin: admin.delete_records(before))
    if is_json:
        print(json.dumps([_as_data(each, outcomes) for each in before]))
        return 0
    print("Records delete operation completed:")
    for partition in before:
        if partition in outcomes.errors:
            print(f"partition: {partition}\terror: {outcomes.errors[partition]}")
        else:
            print(f"partition: {partition}\tlow_watermark: {outcomes[partition]}")
    return 0


def _as_data(
    partition: TopicPartition, outcomes: Outcomes[TopicPartition, int]
) -> dict[str, object]:
    error = outcomes.errors.get(partition)
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "low_watermark": outcomes[partition] if error is None else None,
        "error": None if error is None else str(error),
    }
