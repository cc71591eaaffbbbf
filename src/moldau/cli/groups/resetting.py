"""Where a group is to go on: computed, printed, and done if it is to be done."""

import csv
import json
import re
import sys
from collections.abc import Mapping
from datetime import datetime, timedelta

from moldau.cli.groups.description import DEAD, EMPTY
from moldau.cli.groups.partitions import GroupAdmin, wanted_partitions
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Given, warn
from moldau.client.offset_lookup import EARLIEST, LATEST
from moldau.model import TopicPartition

WAYS = (
    "to-offset",
    "shift-by",
    "to-datetime",
    "by-duration",
    "to-earliest",
    "to-latest",
    "from-file",
    "to-current",
)
_DURATION = re.compile(
    r"([-+]?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE
)
_NO_ACTION = (
    "WARN: No action will be performed as the --execute option is missing. "
    "Add --dry-run if that is what you want, for later versions may ask instead."
)

Offsets = dict[TopicPartition, int]


async def reset_offsets(admin: GroupAdmin, given: Given) -> None:
    """Print where groups are to go on; with `--execute`, let them."""
    if "execute" not in given and "dry-run" not in given:
        warn(_NO_ACTION)
    groups = given.texts("group")
    if "all-groups" in given:
        groups = [each.group_id for each in await admin.list_groups()]
    described = await admin.describe_groups(groups)
    wanted: dict[str, Offsets] = {}
    for group in groups:
        state = described[group].state
        if state not in (EMPTY, DEAD):
            print(
                f"\nError: Assignments can only be reset if the group '{group}' is inactive, "
                f"but the current state is {state}."
            )
            wanted[group] = {}
            continue
        wanted[group] = await _offsets(admin, given, group)
        if "execute" in given:
            (await admin.alter_group_offsets(group, wanted[group])).check()
    if "export" in given:
        _export(wanted)
    elif given.is_json:
        print(json.dumps(_as_data(wanted)))
    else:
        _print(wanted)


async def _offsets(admin: GroupAdmin, given: Given, group: str) -> Offsets:
    if "from-file" in given:
        return await _clamped(admin, read_plan(given.text("from-file"), group))
    committed = {
        each: found.offset for each, found in (await admin.list_group_offsets(group))[group].items()
    }
    if "all-topics" in given:
        partitions = sorted(committed)
    elif "topic" in given:
        partitions = await wanted_partitions(admin, given.texts("topic"))
    else:
        raise CommandFailed("One of the reset scopes should be defined: --all-topics, --topic.")
    if "to-earliest" in given:
        return await _at(admin, dict.fromkeys(partitions, EARLIEST))
    if "to-latest" in given:
        return await _at(admin, dict.fromkeys(partitions, LATEST))
    if "to-offset" in given:
        wanted = dict.fromkeys(partitions, given.number("to-offset"))
        return await _clamped(admin, wanted)
    if "shift-by" in given:
        return await _clamped(admin, _shifted(partitions, committed, given.number("shift-by")))
    if "to-current" in given:
        known = {each: committed[each] for each in partitions if each in committed}
        rest = [each for each in partitions if each not in committed]
        return known | await _at(admin, dict.fromkeys(rest, LATEST))
    return await _at_time(admin, partitions, _time_ms(given))


def _shifted(
    partitions: list[TopicPartition], committed: Mapping[TopicPartition, int], count: int
) -> Offsets:
    missing = [str(each) for each in partitions if each not in committed]
    if missing:
        names = ", ".join(missing)
        raise CommandFailed(
            f"Cannot shift offset for partition {names} since there is no current committed offset"
        )
    return {each: committed[each] + count for each in partitions}


async def _at(admin: GroupAdmin, times: Mapping[TopicPartition, int]) -> Offsets:
    found = await admin.list_offsets(times)
    return {each: at.offset for each, at in found.items()}


async def _at_time(admin: GroupAdmin, partitions: list[TopicPartition], time_ms: int) -> Offsets:
    """The first record at or after a time; behind the last if there is none so late."""
    found = await _at(admin, dict.fromkeys(partitions, time_ms))
    late = [each for each, offset in found.items() if offset < 0]
    for each in late:
        warn(f"WARN: Partition {each} has no record so late. Falling back to latest known offset.")
    return found | await _at(admin, dict.fromkeys(late, LATEST))


async def _clamped(admin: GroupAdmin, wanted: Offsets) -> Offsets:
    """Offsets within what the logs have."""
    first = await _at(admin, dict.fromkeys(wanted, EARLIEST))
    last = await _at(admin, dict.fromkeys(wanted, LATEST))
    for each, offset in wanted.items():
        if offset > last[each]:
            warn(
                f"WARN New offset ({offset}) is higher than latest offset for topic partition "
                f"{each}. Value will be set to {last[each]}"
            )
        elif offset < first[each]:
            warn(
                f"WARN New offset ({offset}) is lower than earliest offset for topic partition "
                f"{each}. Value will be set to {first[each]}"
            )
    return {each: min(max(offset, first[each]), last[each]) for each, offset in wanted.items()}


def _time_ms(given: Given) -> int:
    if "to-datetime" in given:
        return parse_datetime_ms(given.text("to-datetime"))
    ago = parse_duration(given.text("by-duration"))
    return int((datetime.now().astimezone() - ago).timestamp() * 1000)


def parse_datetime_ms(text: str) -> int:
    """Milliseconds since 1970; without a zone the time is local."""
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except ValueError:
        raise CommandFailed(
            f"Invalid time {text}: it should look like 2026-01-31T00:00:00.000"
        ) from None


def parse_duration(text: str) -> timedelta:
    """ISO 8601, as P1DT2H3M4S."""
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groups()[1:]):
        raise CommandFailed(f"Invalid duration {text}: it should look like P1DT2H3M4S")
    sign, days, hours, minutes, seconds = found.groups(default="0")
    duration = timedelta(
        days=int(days), hours=int(hours), minutes=int(minutes), seconds=float(seconds)
    )
    return -duration if sign == "-" else duration


def read_plan(path: str, group: str) -> Offsets:
    """What `--export` printed: lines of topic,partition,offset, maybe after a group."""
    found: Offsets = {}
    try:
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                if len(row) == 4 and row[0] != group:
                    continue
                if row:
                    topic, partition, offset = row[-3:]
                    found[TopicPartition(topic, int(partition))] = int(offset)
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise CommandFailed(f"{path} is not a plan of topic,partition,offset: {error}") from error
    return found


def _print(wanted: Mapping[str, Offsets]) -> None:
    print(f"\n{'GROUP':30} {'TOPIC':30} {'PARTITION':10} {'NEW-OFFSET':15}")
    for group, offsets in wanted.items():
        for (topic, partition), offset in sorted(offsets.items()):
            print(f"{group:30} {topic:30} {partition!s:10} {offset!s:15}")


def _export(wanted: Mapping[str, Offsets]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for group, offsets in wanted.items():
        for (topic, partition), offset in sorted(offsets.items()):
            row = [topic, partition, offset]
            writer.writerow(row if len(wanted) == 1 else [group, *row])
    print()


def _as_data(wanted: Mapping[str, Offsets]) -> list[dict[str, object]]:
    return [
        {"group": group, "topic": topic, "partition": partition, "offset": offset}
        for group, offsets in wanted.items()
        for (topic, partition), offset in sorted(offsets.items())
    ]
