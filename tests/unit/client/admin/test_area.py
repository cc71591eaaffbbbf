"""What areas share."""

from moldau.client.admin.area import by_topic, names, values_by_topic
from moldau.model import TopicPartition


def test_one_name_is_a_list_of_one() -> None:
    assert names("abc") == ["abc"]
    assert names(each for each in "ab") == ["a", "b"]


def test_partitions_are_grouped_by_topic() -> None:
    partitions = [TopicPartition("t", 1), TopicPartition("u", 0), TopicPartition("t", 0)]
    assert by_topic(partitions) == {"t": [1, 0], "u": [0]}
    assert values_by_topic(dict.fromkeys(partitions, 7)) == {"t": [(1, 7), (0, 7)], "u": [(0, 7)]}
