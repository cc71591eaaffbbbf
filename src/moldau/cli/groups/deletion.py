"""Groups, and offsets of groups, that are to be forgotten."""

from moldau.cli.groups.partitions import GroupAdmin, wanted_partitions
from moldau.cli.terminal.options import Given
from moldau.errors import KafkaError


async def delete_groups(admin: GroupAdmin, given: Given) -> None:
    """Delete groups, and print which could not be."""
    wanted = list(dict.fromkeys(given.texts("group")))
    if "all-groups" in given:
        wanted = [each.group_id for each in await admin.list_groups()]
    outcomes = await admin.delete_groups(wanted)
    done = ", ".join(f"'{name}'" for name in outcomes.succeeded)
    if not outcomes.errors:
        print(f"Deletion of requested consumer groups ({done}) was successful.")
        return
    print("\nError: Deletion of some consumer groups failed:")
    for name, error in outcomes.errors.items():
        print(f"* Group '{name}' could not be deleted due to: {reason(error)}")
    if done:
        print(f"\nThese consumer groups were deleted successfully: {done}")


async def delete_offsets(admin: GroupAdmin, given: Given) -> None:
    """Delete a group's offsets of topics, and print what became of each partition."""
    group, topics = given.text("group"), given.texts("topic")
    partitions = await wanted_partitions(admin, topics)
    outcomes = await admin.delete_group_offsets(group, partitions)
    if not outcomes.errors:
        print(f"Request succeed for deleting offsets with topic {', '.join(topics)} group {group}")
    else:
        print("\nError: Encounter some partition level error, see the follow-up details:")
    print(f"\n{'TOPIC':30} {'PARTITION':15} {'STATUS':15}")
    for partition in outcomes:
        error = outcomes.errors.get(partition)
        status = "Successful" if error is None else f"Error: :{reason(error)}"
        print(f"{partition.topic:30} {partition.partition!s:15} {status:15}")


def reason(error: KafkaError) -> str:
    """Why it could not be; a bare code is worth a sentence."""
    return _SENTENCES.get(error.code.name, str(error))


_SENTENCES = {
    "GROUP_ID_NOT_FOUND": "The group id does not exist.",
    "NON_EMPTY_GROUP": "The group is not empty.",
    "GROUP_SUBSCRIBED_TO_TOPIC": (
        "Deleting offsets of a topic is forbidden while the consumer group is actively "
        "subscribed to it."
    ),
}
