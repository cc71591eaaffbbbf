"""Records deleted from the beginning of a topic on, by a plan that says how many."""

from moldau.console.access import Role
from moldau.console.api.plans import read_plan
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint
from moldau.model import TopicPartition
from moldau.web.errors import WebError

_DELETE_RECORDS = f"{PREFIX}/topics/{{topic}}/delete-records"


async def plan(call: ApiCall) -> object:
    """How many records would go, partition by partition; nothing is changed."""
    wanted = read_plan(await call.body())
    admin = await call.admin()
    topic = call.path("topic")
    found = (await admin.describe_topics(topic))[topic]
    partitions = [TopicPartition(topic, each.partition) for each in found.partitions]
    before = await wanted.offsets(admin, dict.fromkeys(partitions))
    first = await read_plan({"to": "earliest"}).offsets(admin, dict.fromkeys(partitions))
    return {
        "changes": [
            {"partition": each.partition, "start": first[each], "before": before[each]}
            for each in partitions
        ]
    }


async def delete_records(call: ApiCall) -> object:
    """Delete records before an offset of each partition; -1 stands for all."""
    sent = await call.body()
    before = sent.get("before")
    if not isinstance(before, dict) or not before:
        raise WebError(400, "before: an offset by partition")
    name = call.path("topic")
    try:
        wanted = {TopicPartition(name, int(key)): int(at) for key, at in before.items()}
    except (TypeError, ValueError):
        raise WebError(400, "before: numbers of partitions and offsets") from None
    found = await (await call.admin()).delete_records(wanted)
    return {"starts": {str(each.partition): start for each, start in found.items()}}


ENDPOINTS = (
    ApiEndpoint(
        "POST",
        f"{_DELETE_RECORDS}/plan",
        Role.VIEWER,
        "How many records a deletion would take",
        plan,
        body={
            "to": "latest, offset, time or duration: where the topic would begin",
            "value": "the offset, the time with its zone, or milliseconds ago",
        },
    ),
    ApiEndpoint(
        "POST",
        _DELETE_RECORDS,
        Role.ADMIN,
        "Delete records before offsets",
        delete_records,
        body={"before": "offsets by partition; -1: all records"},
    ),
)
