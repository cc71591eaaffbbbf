"""A topic rejects records for want of replicas, size, keys or rights."""

from moldau.client.admin.topics import PartitionDescription, TopicDescription
from moldau.console.why.produce import ProduceFacts, why_produce
from moldau.security.acls import Acl, Operation, Permission, ResourceType


def topic(leader: int = 1, isr: tuple[int, ...] = (1, 2)) -> TopicDescription:
    partition = PartitionDescription(0, leader, 0, [1, 2], list(isr), [])
    return TopicDescription("t", None, False, [partition], None)


def texts(state: ProduceFacts) -> str:
    return " | ".join(each.text for each in why_produce(state).causes)


def rule(principal: str, permission: Permission = Permission.ALLOW) -> Acl:
    return Acl(
        resource_type=ResourceType.TOPIC,
        resource_name="t",
        principal=principal,
        operation=Operation.WRITE,
        permission=permission,
    )


def test_a_topic_that_is_not_there_can_be_created() -> None:
    (cause,) = why_produce(ProduceFacts("t; rm", "s:1")).causes
    assert cause.command == "moldau topics --create --topic 't; rm' --bootstrap-server s:1"
    assert cause.remedy is not None
    assert cause.remedy.body == {"name": "t; rm"}


def test_replicas_are_missing() -> None:
    state = ProduceFacts("t", "s", topic=topic(isr=(1,)), configs={"min.insync.replicas": "2"})
    assert texts(state) == "1 partitions have fewer than 2 replicas in sync for acks=all"
    assert why_produce(state).causes[0].advice == "Start or mend broker 2. "
    assert texts(ProduceFacts("t", "s", topic=topic(-1))) == "No leader for t-0"
    few = ProduceFacts("t", "s", topic=topic(), configs={"min.insync.replicas": "3"})
    assert "fewer than 3 replicas at all" in why_produce(few).causes[0].advice


def test_a_batch_is_too_large() -> None:
    configs: dict[str, str | None] = {"max.message.bytes": "1000"}
    state = ProduceFacts("t", "s", "MESSAGE_TOO_LARGE", topic=topic(), configs=configs)
    cause, *_ = why_produce(state).causes
    assert "larger than 1000 bytes" in cause.text
    assert cause.remedy is not None
    assert cause.remedy.body == {"configs": {"max.message.bytes": "2000"}}


def test_compacted_topics_need_keys() -> None:
    configs: dict[str, str | None] = {"cleanup.policy": "compact,delete"}
    assert "compacted" in texts(ProduceFacts("t", "s", topic=topic(), configs=configs))
    other = ProduceFacts("t", "s", "PRODUCER_FENCED", topic=topic(), configs=configs)
    assert texts(other) == "PRODUCER_FENCED was answered"


def test_rules_are_looked_at() -> None:
    error = "TOPIC_AUTHORIZATION_FAILED"
    state = ProduceFacts("t", "s", error, "User:anna", topic(), acls=[rule("User:ben")])
    cause, *_ = why_produce(state).causes
    assert cause.is_certain
    assert cause.remedy is not None
    acls = cause.remedy.body["acls"]
    assert isinstance(acls, list)
    assert [each["operation"] for each in acls] == ["write", "describe", "create"]
    allowed = ProduceFacts("t", "s", "", "User:anna", topic(), acls=[rule("User:*")])
    assert texts(allowed) == ""
    denied = [rule("User:anna", Permission.DENY), rule("User:anna")]
    found = texts(ProduceFacts("t", "s", "", "User:anna", topic(), acls=denied))
    assert found == "A rule denies User:anna to write"


def test_the_error_is_explained_where_nothing_can_be_seen() -> None:
    (cause,) = why_produce(ProduceFacts("t", "s", "PRODUCER_FENCED", topic=topic())).causes
    assert "two producers use the same transactional.id" in cause.advice
    assert why_produce(ProduceFacts("t", "s", topic=topic())).causes == []
