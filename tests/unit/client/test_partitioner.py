"""Where records go that name no partition."""

from moldau.client.partitioner import RoundRobinPartitioner, another_partition, partition_of_key


class Scripted:
    """Chance that gives the numbers it is told."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = list(numbers)

    def below(self, limit: int) -> int:
        number = self._numbers.pop(0)
        assert number < limit
        return number

    def uuid(self) -> bytes:
        return bytes(16)


def test_a_key_goes_where_java_puts_it() -> None:
    assert partition_of_key(b"foobar", range(10)) == (-790332482 & 0x7FFFFFFF) % 10


def test_records_without_a_key_go_elsewhere_after_each_batch() -> None:
    assert another_partition(Scripted(1), None, [0, 1, 2]) == 1
    assert another_partition(Scripted(1), 1, [0, 1, 2]) == 2


def test_the_only_partition_is_stuck_to_for_ever() -> None:
    assert another_partition(Scripted(0), 0, [0]) == 0


def test_a_partition_that_is_no_more_is_left() -> None:
    assert another_partition(Scripted(0), 3, [0]) == 0


def test_round_robin_counts_per_topic() -> None:
    partitioner = RoundRobinPartitioner()
    assert [partitioner("t", b"k", [0, 1]) for _ in range(3)] == [0, 1, 0]
    assert partitioner("u", b"k", [0, 1]) == 0
