"""The groups that there are."""

import json

from moldau.cli.groups.partitions import GroupAdmin
from moldau.cli.terminal.failure import CommandFailed
from moldau.cli.terminal.options import Given
from moldau.client.admin.groups import GroupListing

STATES = {
    name.lower(): name
    for name in (
        "PreparingRebalance",
        "CompletingRebalance",
        "Stable",
        "Dead",
        "Empty",
        "Assigning",
        "Reconciling",
    )
}
TYPES = {"classic": "Classic", "consumer": "Consumer"}


async def list_groups(admin: GroupAdmin, given: Given) -> None:
    """Print names, or a table with states and types if these are asked for."""
    states = chosen(given.text("state"), STATES, "state")
    types = chosen(given.text("type"), TYPES, "type")
    found = await admin.list_groups(states=states, types=types)
    if given.is_json:
        print(json.dumps([as_data(each) for each in found]))
        return
    columns = [("GROUP", [each.group_id for each in found])]
    if "type" in given:
        columns.append(("TYPE", [TYPES.get(each.group_type, "Unknown") for each in found]))
    if "state" in given:
        columns.append(("STATE", [each.state for each in found]))
    if len(columns) == 1:
        for each in found:
            print(each.group_id)
        return
    width = max([25, *(len(each.group_id) for each in found)])
    for row in zip(*([title, *cells] for title, cells in columns), strict=True):
        first, *rest = row
        print(" ".join([f"{first:{width}}", *(f"{cell:20}" for cell in rest)]))


def chosen(text: str, known: dict[str, str], kind: str) -> list[str]:
    """The names in a list with commas, as brokers know them."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name.lower() not in known]
    if unknown:
        valid = ", ".join(known.values())
        raise CommandFailed(f"Invalid {kind} list '{text}'. Valid {kind}s are: {valid}")
    return [known[name.lower()] for name in names]


def as_data(group: GroupListing) -> dict[str, object]:
    """A group for `--format json`."""
    return {"group": group.group_id, "state": group.state, "type": group.group_type}
