"""The controller machine: plans, and what the brokers are told of what was written."""

import pytest

from moldau.controller.cluster import NO_LEADER, LeaderIsr, LiveBroker, ReplicaAssignment, Topic
from moldau.controller.controller import Controller, StateWrite
from moldau.controller.outbox import BrokerRequest
from moldau.errors import ErrorCode
from moldau.model import TopicPartition
from moldau.protocol.messages.leader_and_isr import LeaderAndIsrRequest
from moldau.protocol.messages.update_metadata import UpdateMetadataRequest

ALLOWED = {"some": "setting"}
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def controller(brokers: tuple[int, ...], *replicas: tuple[int, ...]) -> Controller:
    made = Controller(1, 5, is_unclean_allowed=lambda _topic, settings: bool(settings))
    made.cluster.brokers = {one: LiveBroker(one, 100 + one, ()) for one in brokers}
    partitions = {number: ReplicaAssignment(one) for number, one in enumerate(replicas)}
    made.cluster.topics["t"] = Topic(b"i" * 16, partitions)
    return made


def requests_of(made: Controller) -> list[BrokerRequest]:
    return [one for broker in made.outbox.waiting() for one in made.outbox.requests(broker)]


def write_all(made: Controller, writes: list[StateWrite]) -> None:
    for write in writes:
        version = 0 if write.expected_version is None else write.expected_version + 1
        made.note_written(write, version)


def test_new_partitions_get_a_leader_and_all_live_replicas_in_sync() -> None:
    made = controller((1, 2), (1, 2), (3, 2))
    assert made.plan_new([T0, T1]) == [
        StateWrite(T0, LeaderIsr(1, 0, (1, 2), 5), None),
        StateWrite(T1, LeaderIsr(2, 0, (2,), 5), None),
    ]


def test_a_partition_without_a_live_replica_waits() -> None:
    made = controller((1,), (2, 3))
    assert made.plan_new([T0]) == []
    made.cluster.brokers[3] = LiveBroker(3, 103, ())
    assert [write.state.leader for write in made.plan_offline({})] == [3]


def test_what_was_written_is_told_to_the_replicas_and_to_everyone() -> None:
    made = controller((1, 2, 3), (1, 2))
    write_all(made, made.plan_new([T0]))
    requests = requests_of(made)
    told = {(one.broker_id, type(one.message)) for one in requests}
    assert told == {
        (1, UpdateMetadataRequest),
        (2, UpdateMetadataRequest),
        (3, UpdateMetadataRequest),
        (1, LeaderAndIsrRequest),
        (2, LeaderAndIsrRequest),
    }
    request = next(one.message for one in requests if isinstance(one.message, LeaderAndIsrRequest))
    state = request.topic_states[0].partition_states[0]
    assert request.controller_epoch == 5
    assert request.topic_states[0].topic_id == b"i" * 16
    assert (state.leader, state.leader_epoch, state.isr, state.is_new) == (1, 0, [1, 2], True)
    assert requests_of(made) == []


def test_when_a_leader_goes_an_in_sync_replica_takes_over_in_a_new_epoch() -> None:
    made = controller((1, 2, 3), (1, 2, 3))
    made.cluster.leaders[T0] = LeaderIsr(1, 4, (1, 3), 3, zk_version=7)
    del made.cluster.brokers[1]
    assert made.plan_offline({}) == [StateWrite(T0, LeaderIsr(3, 5, (3,), 5), 7)]


def test_without_anybody_in_sync_the_partition_has_no_leader_but_keeps_its_last_member() -> None:
    made = controller((1, 2), (1, 2))
    made.cluster.leaders[T0] = LeaderIsr(1, 0, (1,), 5)
    del made.cluster.brokers[1]
    (write,) = made.plan_offline({})
    assert (write.state.leader, write.state.isr) == (NO_LEADER, (1,))
    write_all(made, [write])
    assert made.plan_offline({}) == []
    made.cluster.brokers[1] = LiveBroker(1, 200, ())
    (write,) = made.plan_offline({})
    assert (write.state.leader, write.state.leader_epoch) == (1, 2)


@pytest.mark.parametrize("settings", [{}, {"t": None}, {"t": {}}, {"other": ALLOWED}])
def test_an_unclean_election_must_be_allowed(settings: dict[str, dict[str, str] | None]) -> None:
    made = controller((1, 2), (1, 2))
    made.cluster.leaders[T0] = LeaderIsr(1, 0, (1,), 5)
    del made.cluster.brokers[1]
    (write,) = made.plan_offline(settings)
    assert (write.state.leader, write.state.isr) == (NO_LEADER, (1,))
    (write,) = made.plan_offline({"t": ALLOWED})
    assert (write.state.leader, write.state.isr) == (2, (2,))


def test_settings_are_in_question_where_only_replicas_out_of_sync_could_lead() -> None:
    made = controller((1, 2), (1, 2))
    made.cluster.leaders[T0] = LeaderIsr(1, 0, (1,), 5)
    assert made.topics_in_question() == set()  # It is led.
    del made.cluster.brokers[1]
    assert made.topics_in_question() == {"t"}
    made.cluster.leaders[T0] = LeaderIsr(1, 0, (1, 2), 5)
    assert made.topics_in_question() == set()  # Somebody in sync can lead.
    made.cluster.leaders[T0] = LeaderIsr(1, 0, (1,), 5)
    made.cluster.stopping.add(2)
    assert made.topics_in_question() == set()  # Nobody can.
    made.cluster.stopping.clear()
    made.cluster.deleting["t"] = None
    assert made.topics_in_question() == set()  # Nobody needs to.


def test_a_broker_that_is_gone_leaves_the_in_sync_sets_of_others() -> None:
    made = controller((1, 2), (1, 2), (2, 1))
    made.cluster.leaders = {T0: LeaderIsr(1, 0, (1, 2), 5), T1: LeaderIsr(2, 0, (2, 1), 5)}
    del made.cluster.brokers[2]
    (write,) = made.plan_shrink()
    assert write.partition == T0
    assert (write.state.leader, write.state.isr) == (1, (1,))


def test_preferred_leaders_take_over_where_they_can() -> None:
    made = controller((1, 2), (2, 1), (1, 2))
    made.cluster.leaders = {T0: LeaderIsr(1, 0, (1, 2), 5), T1: LeaderIsr(1, 0, (1, 2), 5)}
    (write,) = made.plan_preferred([T0, T1, TopicPartition("gone", 0)])
    assert (write.partition, write.state.leader) == (T0, 2)


def test_a_topic_that_is_being_deleted_is_left_alone() -> None:
    made = controller((2,), (1, 2))
    made.cluster.leaders[T0] = LeaderIsr(1, 0, (1, 2), 5)
    made.cluster.deleting["t"] = None
    assert made.plan_offline({}) == []
    assert made.plan_preferred([T0]) == []


def test_a_newcomer_is_told_everything_and_the_others_that_it_came() -> None:
    made = controller((1, 2), (1, 2))
    made.cluster.leaders[T0] = LeaderIsr(1, 0, (1, 2), 5)
    made.welcome([2])
    found = requests_of(made)
    to_newcomer = [type(one.message) for one in found if one.broker_id == 2]
    assert to_newcomer == [UpdateMetadataRequest, LeaderAndIsrRequest]
    requests = {(one.broker_id, type(one.message)): one.message for one in found}
    assert set(requests) == {
        (1, UpdateMetadataRequest),
        (2, UpdateMetadataRequest),
        (2, LeaderAndIsrRequest),
    }
    to_old, to_new = requests[1, UpdateMetadataRequest], requests[2, UpdateMetadataRequest]
    assert isinstance(to_old, UpdateMetadataRequest)
    assert isinstance(to_new, UpdateMetadataRequest)
    assert [topic.topic_name for topic in to_old.topic_states] == ["t"]
    assert [topic.topic_name for topic in to_new.topic_states] == ["t"]
    assert [broker.id for broker in to_old.live_brokers] == [1, 2]


def test_a_stopping_broker_hands_over_what_others_can_lead_and_leaves_their_sets() -> None:
    made = controller((1, 2), (1, 2), (2, 1), (1,), (1, 2))
    made.cluster.leaders = {
        T0: LeaderIsr(1, 0, (1, 2), 5),
        T1: LeaderIsr(2, 0, (2, 1), 5),
        TopicPartition("t", 2): LeaderIsr(1, 0, (1,), 5),
        TopicPartition("t", 3): LeaderIsr(1, 0, (1,), 5),
    }
    made.cluster.stopping.add(1)
    first, second = made.plan_shutdown(1)
    assert (first.partition, first.state.leader, first.state.isr) == (T0, 2, (2,))
    assert (second.partition, second.state.leader, second.state.isr) == (T1, 2, (2,))
    assert made.plan_shutdown(9) == []


def test_a_stopping_broker_is_not_elected() -> None:
    made = controller((1, 2), (1, 2))
    made.cluster.stopping.add(1)
    (write,) = made.plan_new([T0])
    assert (write.state.leader, write.state.isr) == (2, (2,))


def test_a_failed_replica_neither_leads_nor_stays_in_sync() -> None:
    made = controller((1, 2), (1, 2), (2, 1))
    made.cluster.leaders = {T0: LeaderIsr(1, 0, (1, 2), 5), T1: LeaderIsr(2, 0, (2, 1), 5)}
    storage, none = ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NONE
    assert made.note_failures(1, {T0: storage, T1: storage})
    assert not made.note_failures(1, {T0: storage, T1: none})
    assert not made.note_failures(7, {T0: storage})
    (elected,) = made.plan_offline({})
    assert (elected.partition, elected.state.leader, elected.state.isr) == (T0, 2, (2,))
    (shrunk,) = made.plan_shrink()
    assert (shrunk.partition, shrunk.state.isr) == (T1, (2,))
    made.note_gone([1])
    assert made.cluster.failed == {}


def test_everyone_hears_of_changed_in_sync_sets() -> None:
    made = controller((1, 2), (1, 2))
    made.cluster.leaders[T0] = LeaderIsr(1, 0, (1, 2), 5)
    made.note_isr([T0])
    assert [one.broker_id for one in requests_of(made)] == [1, 2]


def test_an_unclean_election_can_be_wanted_for_once() -> None:
    made = controller((2,), (1, 2))
    made.cluster.leaders[T0] = LeaderIsr(-1, 3, (1,), 5)
    assert made.plan_elections([T0], is_unclean_allowed=lambda _: False) == []
    (write,) = made.plan_elections([T0], is_unclean_allowed=lambda topic: topic == "t")
    assert (write.state.leader, write.state.isr, write.state.leader_epoch) == (2, (2,), 4)


def test_imbalance_counts_only_above_the_limit_and_for_live_brokers() -> None:
    made = controller((1, 2), (1, 2), (1, 2), (3, 2))
    for number, leader in enumerate((1, 2, 2)):
        name = TopicPartition("t", number)
        made.cluster.leaders[name] = LeaderIsr(leader, 0, (1, 2), 5)
    assert made.imbalanced(percentage=10) == [T1]
    assert made.imbalanced(percentage=50) == []


def test_a_stopping_broker_that_is_not_in_sync_changes_nothing() -> None:
    made = controller((1, 2, 3), (1, 2, 3))
    made.cluster.leaders[T0] = LeaderIsr(1, 0, (1, 2), 5)
    assert made.plan_shutdown(3) == []


def test_only_a_replica_that_is_online_could_lead() -> None:
    made = controller((1, 2), (1, 2, 3))
    made.cluster.leaders[T0] = LeaderIsr(1, 0, (1, 3), 5)
    assert made.can_lead([1], T0)
    assert not made.can_lead([2], T0), "which is not in sync"
    assert not made.can_lead([3], T0), "which is not here"


def test_brokers_without_a_common_partition_receive_the_newcomer_too() -> None:
    made = controller((1, 2, 3), (2,))
    made.cluster.leaders[T0] = LeaderIsr(2, 0, (2,), 5)
    made.welcome([3])
    (one,) = [one.message for one in requests_of(made) if one.broker_id == 1]
    assert isinstance(one, UpdateMetadataRequest)
    assert [broker.id for broker in one.live_brokers] == [1, 2, 3]


def test_what_returned_brokers_led_has_new_epochs_where_others_may_know_more() -> None:
    made = controller((1, 2), (1, 2), (1, 2), (1,), (2, 1))
    partitions = [TopicPartition("t", number) for number in range(4)]
    # The transactions of the registrations are 101 and 102.
    written = [((1, 2), 100), ((1,), 101), ((1,), 100), ((2, 1), 102)]
    for one, (isr, written_at) in zip(partitions, written, strict=True):
        made.cluster.note_state(one, LeaderIsr(isr[0], 7, isr, 4), written_at)
    assert list(made.cluster.returned) == [partitions[0], partitions[2]]
    made.cluster.note_state(partitions[1], LeaderIsr(1, 7, (1,), 4), 100)
    made.cluster.note_state(partitions[2], LeaderIsr(1, 7, (1,), 4), 100)
    writes = made.plan_returned()
    assert [(one.partition, one.state.leader, one.state.isr) for one in writes] == [
        (partitions[0], 2, (2,)),
        (partitions[1], 1, (1,)),
    ]
    assert {one.state.leader_epoch for one in writes} == {8}
    write_all(made, writes)
    assert made.plan_returned() == []
    made.cluster.note_state(partitions[0], LeaderIsr(1, 9, (1, 2), 4), 100)
    made.cluster.deleting["t"] = None
    assert made.plan_returned() == []
    made.cluster.forget("t")
    assert made.cluster.returned == {}


def test_the_last_one_in_sync_stays_so_when_it_stops() -> None:
    made = controller((1, 2), (1, 2))
    made.cluster.leaders[T0] = LeaderIsr(NO_LEADER, 3, (1,), 5)
    assert made.plan_shutdown(1) == []


def test_sets_that_were_written_for_their_leaders_are_metadata_for_everyone() -> None:
    made = controller((1, 2, 3), (1, 2))
    made.cluster.leaders[T0] = LeaderIsr(1, 0, (1, 2), 5)
    made.note_isr_written([(StateWrite(T0, LeaderIsr(1, 0, (1,), 5), 0), 1)])
    assert made.cluster.leaders[T0] == LeaderIsr(1, 0, (1,), 5, zk_version=1)
    sent = [(one.broker_id, type(one.message)) for one in requests_of(made)]
    assert sent == [(broker, UpdateMetadataRequest) for broker in (1, 2, 3)]
    made.note_isr_written([])
    assert requests_of(made) == []


@pytest.mark.parametrize(
    ("replicas", "live", "planned"),
    [
        ((3, 1), (1, 3), (1, (1, 3))),
        ((3, 2), (1, 2, 3), (3, (3,))),
        ((3, 1), (3,), (3, (1, 3))),
        ((2,), (1, 2, 3), None),
    ],
)
def test_a_moved_partition_is_led_by_one_of_its_replicas_or_not_planned(
    replicas: tuple[int, ...], live: tuple[int, ...], planned: tuple[int, tuple[int, ...]] | None
) -> None:
    made = controller(live, replicas)
    made.cluster.leaders[T0] = LeaderIsr(1, 4, (1, 3), 5, zk_version=7)
    writes = made.plan_moved(T0)
    assert [(one.state.leader, one.state.isr) for one in writes] == ([planned] if planned else [])
    assert all(one.state.leader_epoch == 5 and one.expected_version == 7 for one in writes)
