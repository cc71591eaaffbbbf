"""Delete records before an offset (kafka-delete-records.sh)."""

from collections.abc import Sequence

from moldau.cli.terminal.administration import run_admin
from moldau.cli.terminal.options import BOOTSTRAP_SERVER, COMMAND_CONFIG, Option, Options
from moldau.cli.terminal.partition_file import field, partition_of, read_entries, require_unique
from moldau.client.admin.connected import Connected
from moldau.client.admin.offsets import Offsets

OPTIONS = Options(
    "delete-records",
    "Deletes the records of partitions before given offsets.",
    BOOTSTRAP_SERVER,
    COMMAND_CONFIG,
    Option(
        "offset-json-file",
        'Partitions and offsets: {"partitions": [{"topic": "t", "partition": 0, "offset": 1}], '
        '"version": 1}; the offset -1 stands for all.',
        "FILE",
    ),
)


class RecordAdmin(Offsets, Connected):
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
    print("Executing records delete operation")
    outcomes = run_admin(given, RecordAdmin, lambda admin: admin.delete_records(before))
    print("Records delete operation completed:")
    for partition in before:
        if partition in outcomes.errors:
            print(f"partition: {partition}\terror: {outcomes.errors[partition]}")
        else:
            print(f"partition: {partition}\tlow_watermark: {outcomes[partition]}")
    return 0
