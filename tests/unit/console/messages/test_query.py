"""An address says which records are wanted."""

import pytest
from starlette.datastructures import QueryParams

from moldau.client.partitioner import partition_of_key
from moldau.console.filters.language import TextAnywhere
from moldau.console.messages.query import MessageQuery, read_query
from moldau.web.errors import WebError


def test_without_anything_it_is_the_newest() -> None:
    assert read_query(QueryParams("")) == MessageQuery()


def test_everything_is_in_the_address() -> None:
    text = "start=time&from=1970-01-01T00:00:01Z&to=2000&limit=7&filter=x&partitions=0,2"
    query = read_query(QueryParams(f"{text}&uncommitted=1&cursor=0:5,2:7"))
    assert (query.start, query.from_ms, query.to_ms, query.limit) == ("time", 1000, 2000, 7)
    assert query.filter == TextAnywhere("x")
    assert query.cursor == {0: 5, 2: 7}
    assert query.is_uncommitted
    assert query.chosen([0, 1, 2]) == [0, 2]
    assert read_query(QueryParams("limit=99999")).limit == 1000


def test_a_key_is_in_one_partition() -> None:
    known = [0, 1, 2, 3, 4, 5]
    assert MessageQuery(key="order-1").chosen(known) == [partition_of_key(b"order-1", known)]


@pytest.mark.parametrize(
    "text",
    [
        "start=there",
        "offset=x",
        "filter=(",
        "from=yesterday",
        "cursor=1",
        "partitions=a",
        "columns=user",
    ],
)
def test_what_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(WebError):
        read_query(QueryParams(text))
