"""Why a connector has failed: by what its errors say."""

import re
from collections.abc import Mapping
from urllib.parse import quote

from moldau.console.why.diagnosis import Diagnosis, LikelyCause, MendingRequest, command

_TEXT_MAX = 40_000

_HINTS: tuple[tuple[str, str, str], ...] = (
    (
        (
            r"connection refused|unknownhost|no route to host|could not connect|timed? ?out"
            r"|communications link failure|network is unreachable"
        ),
        "The other system cannot be reached from the worker",
        "See that it is up, and that address and port are right for the worker's machine.",
    ),
    (
        (
            r"authentication|password|login|unauthori[sz]ed|access denied|permission denied"
            r"|forbidden|sasl"
        ),
        "The other system, or the brokers, refuse its login or its rights",
        "See user and password in the settings, and what that user may do.",
    ),
    (
        (
            r"dataexception|schemaexception|serializationexception|deserializ|converter"
            r"|unknown magic|jsonparseexception"
        ),
        "A record is not in the format that the converter reads",
        (
            "See key.converter and value.converter. errors.tolerance=all passes such records over; "
            "with errors.deadletterqueue.topic.name a sink keeps them in a topic."
        ),
    ),
    (
        r"topicauthorization|groupauthorization|clusterauthorization|not authorized to access",
        "The worker's user lacks access rules",
        "Add what a consumer or a producer of the topic needs.",
    ),
    (
        r"unknowntopicorpartition|unknown_topic_or_partition|topic .{0,300}?not (?:found|present)",
        "A topic is not there",
        "Create it, or allow topic.creation.enable and auto.create.topics.enable.",
    ),
    (
        r"recordtoolarge|message_too_large|larger than the maximum request size",
        "A record is larger than brokers or the producer take",
        "Raise max.message.bytes of the topic and producer.override.max.request.size.",
    ),
    (
        r"classnotfound|noclassdeffound|no suitable driver|modulenotfound|failed to find any class",
        "A plugin or a driver is missing on the worker",
        "Put it into a directory of plugin.path on every worker, and start them again.",
    ),
    (
        r"outofmemory|memoryerror",
        "The worker has too little memory",
        "Give it more, or fewer tasks.",
    ),
    (
        r"replication slot|binlog|wal|logical decoding",
        "The database does not offer its changes as the connector wants them",
        (
            "See whether the slot or the position is still there, and whether logs are kept long "
            "enough; a connector that was off for too long needs a new snapshot."
        ),
    ),
    (
        r"configexception|missing required configuration|invalid value",
        "A setting is missing or wrong",
        "Change the settings: the form shows errors at their fields.",
    ),
)


def why_connector(found: Mapping[str, object], worker: str) -> Diagnosis:
    """What the connector's state and errors say; `found` is as its page shows it."""
    name = str(found["name"])
    parts = found["parts"]
    assert isinstance(parts, list), "as tasks() makes them"
    failed = [each for each in parts if each["state"] in ("FAILED", "RESTARTING")]
    known = [f"{name} is {found['state']} on {worker}"]
    for each in failed:
        what = "The connector itself" if each["id"] is None else f"Task {each['id']}"
        error = each["error"] or "without an error"
        known.append(f"{what} is {each['state']} on {each['worker']}: {error}")
        if each["cause"]:
            known.append(f"The innermost cause: {each['cause']}")
    if not failed:
        return Diagnosis(known, [])
    text = "\n".join(str(each["trace"]) for each in failed)[:_TEXT_MAX].lower()
    page = ("connect", worker)
    causes = [
        LikelyCause(f"{cause}", advice, page=page)
        for pattern, cause, advice in _HINTS
        if re.search(pattern, text)
    ]
    causes.append(_restart(found, worker, name))
    return Diagnosis(known, causes)


def _restart(found: Mapping[str, object], worker: str, name: str) -> LikelyCause:
    address = f"{found['address']}/connectors/{quote(name, safe='')}/restart"
    return LikelyCause(
        "It was something that has passed",
        "Failed tasks stay so until they are started again, whatever the cause was.",
        command=command("curl", "-X", "POST", f"{address}?includeTasks=true&onlyFailed=true"),
        remedy=MendingRequest(
            "Restart what has failed",
            "POST",
            ("connect", worker, "connectors", name, "restart"),
            "operator",
            {"only_failed": True},
        ),
    )
