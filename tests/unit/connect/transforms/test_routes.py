"""RegexRouter and Filter do what Java's do."""

import pytest

from moldau.connect.data.record import ConnectRecord
from moldau.connect.errors import ConfigError
from unit.connect.transforms.chained import chain, changed


@pytest.mark.parametrize(
    ("regex", "replacement", "topic"),
    [
        ("a-(.*)", "b-$1", "b-x"),
        ("(?<first>a)-.*", "${first}", "a"),
        ("a", "b", "a-x"),  # the whole name has to match
        (".*", r"\$1", "$1"),
    ],
)
def test_topics_that_match_as_a_whole_are_renamed(regex: str, replacement: str, topic: str) -> None:
    found = chain("RegexRouter", regex=regex, replacement=replacement).apply(ConnectRecord("a-x"))
    assert found is not None
    assert found.topic == topic


def test_an_expression_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="Invalid regex"):
        chain("RegexRouter", regex="(", replacement="x")


def test_a_filter_takes_every_record_out() -> None:
    assert changed("Filter", 1) is None
