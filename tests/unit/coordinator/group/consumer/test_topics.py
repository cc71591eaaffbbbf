"""What a group knows about topics."""

from moldau.coordinator.group.consumer.topics import ObservedTopic, known_topics
from moldau.metadata.image import ClusterImage, TopicImage
from moldau.protocol.primitives import NO_UUID
from unit.coordinator.group.consumer.samples import T, U, image


def test_topics_that_do_not_exist_are_left_out() -> None:
    assert known_topics(["t", "x"], image(t=2, u=1)) == {"t": ObservedTopic(T, 2)}


def test_racks_of_replicas_are_known_where_there_are_any() -> None:
    cluster = image(u=2, racks=("west", None, "east", "west"))
    racks = {0: ("east", "west"), 1: ("east", "west")}
    assert known_topics(["u"], cluster) == {"u": ObservedTopic(U, 2, racks)}


def test_partitions_whose_replicas_have_no_rack_are_left_out() -> None:
    cluster = image(t=1, racks=(None, "east"))
    only = {0: cluster.topics["t"].partitions[0]._replace(replicas=(0, 7))}
    moved = ClusterImage(0, cluster.brokers, {"t": TopicImage("t", T, only)}, {T: "t"})
    assert known_topics(["t"], moved) == {"t": ObservedTopic(T, 1)}


def test_topics_without_an_id_cannot_be_assigned() -> None:
    nameless = ClusterImage(topics={"t": TopicImage("t", NO_UUID, {})})
    assert known_topics(["t"], nameless) == {}
