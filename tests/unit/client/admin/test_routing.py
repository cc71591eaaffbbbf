"""Items reach their brokers, again and elsewhere if those have moved."""

import itertools

import pytest

from moldau.client.admin.admin import Admin
from moldau.client.admin.routing import WORTH_ANOTHER_TRY
from moldau.errors import (
    ErrorCode,
    GroupAuthorizationFailed,
    NetworkException,
    NotController,
    UnknownServerError,
)
from moldau.protocol.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from moldau.protocol.messages.list_groups import ListGroupsResponse
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Drop, Fail
from unit.client.admin.answering import Answering, admin_of


def test_what_may_have_happened_and_what_is_not_there_is_not_tried_again() -> None:
    assert ErrorCode.REQUEST_TIMED_OUT not in WORTH_ANOTHER_TRY
    assert ErrorCode.UNKNOWN_TOPIC_OR_PARTITION not in WORTH_ANOTHER_TRY


@pytest.mark.parametrize("fault", [Fail(ErrorCode.NOT_CONTROLLER), Drop()])
async def test_what_moved_is_asked_for_again(kafka: EmbeddedBroker, fault: Fail | Drop) -> None:
    faults = itertools.chain([fault, fault], itertools.repeat(None))
    kafka.control("CreateTopics", lambda _: next(faults))
    async with Admin(bootstrap_servers=kafka.bootstrap_servers, retry_backoff_ms=1) as admin:
        assert (await admin.create_topics(["t"]))["t"].partitions == 1


async def test_only_what_failed_is_asked_for_again() -> None:
    def create(request: object) -> CreateTopicsResponse:
        names = [topic.name for topic in request.topics]  # type: ignore[attr-defined]
        moved = int(ErrorCode.NOT_CONTROLLER) if len(broker.asked) == 1 else 0
        return CreateTopicsResponse(
            topics=[
                CreatableTopicResult(name=name, error_code=moved if name == "b" else 0)
                for name in names
            ]
        )

    broker = Answering(CreateTopics=create)
    async with admin_of(broker) as admin:
        (await admin.create_topics(["a", "b"])).check()
    assert [[topic.name for topic in request.topics] for request in broker.asked] == [
        ["a", "b"],
        ["b"],
    ]


async def test_time_runs_out_with_the_last_error(kafka: EmbeddedBroker) -> None:
    kafka.control("CreateTopics", lambda _: Fail(ErrorCode.NOT_CONTROLLER))
    servers = kafka.bootstrap_servers
    async with Admin(
        bootstrap_servers=servers, retry_backoff_ms=1, default_api_timeout_ms=20
    ) as admin:
        outcomes = await admin.create_topics(["t"])
        with pytest.raises(NotController, match="t"):
            outcomes.check()


async def test_nothing_is_tried_more_often_than_settings_say(kafka: EmbeddedBroker) -> None:
    asked: list[object] = []

    def refuse(call: object) -> Fail:
        asked.append(call)
        return Fail(ErrorCode.NOT_CONTROLLER)

    kafka.control("CreateTopics", refuse)
    servers = kafka.bootstrap_servers
    async with Admin(bootstrap_servers=servers, retry_backoff_ms=1, retries=2) as admin:
        with pytest.raises(NotController):
            (await admin.create_topics(["t"])).check()
    assert len(asked) == 3


async def test_an_error_for_good_is_not_tried_again(kafka: EmbeddedBroker) -> None:
    asked: list[object] = []

    def refuse(call: object) -> Fail:
        asked.append(call)
        return Fail(ErrorCode.GROUP_AUTHORIZATION_FAILED)

    kafka.control("ListGroups", refuse)
    async with Admin(bootstrap_servers=kafka.bootstrap_servers) as admin:
        with pytest.raises(GroupAuthorizationFailed):
            await admin.list_groups()
    assert len(asked) == 1


async def test_an_item_without_an_answer_has_failed() -> None:
    broker = Answering(CreateTopics=lambda _: CreateTopicsResponse(topics=[]))
    async with admin_of(broker) as admin:
        with pytest.raises(UnknownServerError, match="said nothing"):
            (await admin.create_topics(["t"])).check()


async def test_the_code_at_the_top_of_an_answer_is_read() -> None:
    answer = ListGroupsResponse(error_code=30, groups=[])
    async with admin_of(Answering(ListGroups=lambda _: answer)) as admin:
        with pytest.raises(GroupAuthorizationFailed):
            await admin.list_groups()


async def test_a_cluster_that_is_gone_is_waited_for_so_long(kafka: EmbeddedBroker) -> None:
    servers = kafka.bootstrap_servers
    async with Admin(
        bootstrap_servers=servers, retry_backoff_ms=1, default_api_timeout_ms=20
    ) as admin:
        kafka.stop()
        with pytest.raises(NetworkException, match="tried"):
            await admin.list_groups()
    kafka.start()


async def test_nobody_there_is_an_error_that_says_what_was_tried() -> None:
    with pytest.raises(NetworkException, match=r"127\.0\.0\.1:1"):
        async with Admin(bootstrap_servers="127.0.0.1:1", default_api_timeout_ms=1):
            raise AssertionError("nobody is there")


async def test_what_cannot_be_looked_up_is_the_error_of_each(kafka: EmbeddedBroker) -> None:
    servers = kafka.bootstrap_servers
    async with Admin(
        bootstrap_servers=servers, retry_backoff_ms=1, default_api_timeout_ms=20
    ) as admin:
        kafka.control("FindCoordinator", lambda _: Drop())
        outcomes = await admin.list_group_offsets(["a", "b"])
    assert [error.code for error in outcomes.errors.values()] == [ErrorCode.NETWORK_EXCEPTION] * 2
