"""State is divided by what topics have and cores can do, once for all."""

import pytest

from moldau.streams.compile.signatures import QuerySignature
from moldau.streams.run.manifest import KnownQuery
from moldau.streams.run.state_partitions import StatePartitions, fitting

KNOWN = {"a": KnownQuery(QuerySignature("update", (), ()), 3)}


@pytest.mark.parametrize(
    ("topics", "cores", "expected"), [(1, 2, 1), (6, 2, 2), (6, 16, 6), (0, 4, 1)]
)
def test_no_more_than_the_input_and_the_cores(topics: int, cores: int, expected: int) -> None:
    assert fitting(topics, cores) == expected


def test_a_new_query_is_divided_as_is_said() -> None:
    assert StatePartitions(None, 4).of("b", KNOWN, 8) == 4
    assert StatePartitions(7, 4).of("b", KNOWN, 8) == 7


def test_a_known_one_stays_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    assert StatePartitions(None, 4).of("a", KNOWN, 8) == 3
    assert StatePartitions(3, 4).of("a", KNOWN, 8) == 3
    assert not caplog.records
    assert StatePartitions(7, 4).of("a", KNOWN, 8) == 3
    assert "a keeps its state in 3 partitions, not in 7: `moldau streams reset`" in caplog.text
