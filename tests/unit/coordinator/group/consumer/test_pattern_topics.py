"""The topics of patterns, in steps."""

import pytest

from moldau.coordinator.group.consumer.pattern_topics import PatternTopics, resolve_at_once
from moldau.errors import KafkaError
from moldau.metadata.image import ClusterImage, TopicImage

COSTLY = "(.*.){400}"


def image_of(*names: str) -> ClusterImage:
    return ClusterImage(topics={name: TopicImage(name, bytes(16), {}) for name in names})


class Cluster:
    def __init__(self, *names: str) -> None:
        self.image = image_of(*names)
        self.patterns = PatternTopics(lambda: self.image)

    def resolve(self, text: str) -> tuple[str, ...] | None:
        return self.patterns.resolve(text, self.image)

    def step_count(self, text: str) -> int:
        return len(list(self.patterns.steps(text)))


def test_a_pattern_is_known_once_its_steps_are_done() -> None:
    cluster = Cluster("u", "t", "other")
    assert cluster.resolve("[tu]") is None
    assert not cluster.patterns.is_known("[tu]")
    cluster.step_count("[tu]")
    assert cluster.resolve("[tu]") == ("t", "u") == resolve_at_once("[tu]", cluster.image)
    assert cluster.patterns.is_known("[tu]")


def test_it_is_known_until_other_topics_are_there() -> None:
    cluster = Cluster("t", "u")
    cluster.step_count("[tuv]")
    cluster.image = image_of("u", "t")  # as after an election
    assert cluster.resolve("[tuv]") == ("t", "u")
    cluster.image = image_of("u", "v", "w")
    assert cluster.resolve("[tuv]") is None
    cluster.step_count("[tuv]")
    assert cluster.resolve("[tuv]") == ("u", "v")


def test_what_is_known_of_another_image_is_not_told() -> None:
    cluster = Cluster("t")
    cluster.step_count("t")
    assert cluster.patterns.resolve("t", image_of("t", "u")) is None


def test_many_topics_take_many_steps_and_new_ones_few() -> None:
    names = [f"topic-number-{n}" for n in range(5000)]
    cluster = Cluster(*names)
    assert cluster.step_count(".*[05]") > 10
    cluster.image = image_of(*names, "one-more-0")
    assert cluster.step_count(".*[05]") == 0
    assert "one-more-0" in (cluster.resolve(".*[05]") or ())
    assert len(cluster.resolve(".*[05]") or ()) == 1001


def test_a_pattern_that_takes_too_long_is_refused() -> None:
    cluster = Cluster("a" * 200)
    with pytest.raises(KafkaError, match="too long"):
        cluster.step_count(COSTLY)
    assert cluster.resolve(COSTLY) is None


def test_a_topic_that_would_take_too_long_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    cluster = Cluster("t")
    cluster.step_count("t|" + COSTLY)
    cluster.image = image_of("t", "a" * 200)
    cluster.step_count("t|" + COSTLY)
    assert cluster.resolve("t|" + COSTLY) == ("t",)
    assert "left out" in caplog.text


def test_only_so_many_patterns_are_known() -> None:
    cluster = Cluster("t")
    for n in range(500):
        cluster.step_count(f"t{n}")
    assert cluster.resolve("t0") == ()
    cluster.step_count("t500")
    assert cluster.resolve("t0") is None
    assert cluster.resolve("t1") == cluster.resolve("t500") == ()
