"""Looks at the records of a topic, as several paths of the API take them."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from moldau.console.endpoints import ApiCall
from moldau.console.messages.registered import ListedValues
from moldau.console.seats import Seats

if TYPE_CHECKING:
    import pyarrow as pa

    from moldau.console.messages.payloads import Read
    from moldau.console.messages.query import MessageQuery
    from moldau.console.messages.scanning import Budget, Scan
    from moldau.console.messages.view import TopicView

# A page that looks again while its last look still ends needs more than one or two.
SCANS = Seats("topics looked through", total=8, each=4)
QUERY = {
    "start": "newest, oldest, offset or time",
    "offset": "the first offset, with start=offset",
    "from": "no records before this time, in ISO form or milliseconds",
    "to": "no records from this time on",
    "limit": "how many hits, 50 unless said",
    "filter": "see docs/console.md",
    "key": "records of this key, from its partition alone",
    "partitions": "numbers with commas between; all if left out",
    "uncommitted": "1: records of open and aborted transactions as well, and their markers",
    "columns": "paths to show of each record: value.user,headers.trace",
    "cursor": "where an earlier answer stopped",
}


def who(call: ApiCall) -> str:
    """Whose places a request takes: those without a name are distinguished by where they are."""
    client = call.request.client
    is_named = getattr(call.request.state, "user", None) is not None
    return call.actor.name if is_named or client is None else f"{call.actor.name}@{client.host}"


def query_of(call: ApiCall) -> "MessageQuery":
    """What an address asks for."""
    # Arrow is imported with the first look: a console that nobody uses stays small.
    from moldau.console.messages.query import read_query  # noqa: PLC0415

    return read_query(call.request.query_params)


def reader_of(call: ApiCall) -> "Read | None":
    """What reads many values by their schemas, if there is a registry."""
    values = call.console.registered
    return None if values is None else ListedValues(values).read


def view_of(call: ApiCall) -> "TopicView":
    """How the one who asks sees the records of the topic in the path."""
    from moldau.console.messages.view import TopicView  # noqa: PLC0415 - imports Arrow

    return TopicView(reader_of(call), call.mask)


async def look(
    call: ApiCall, query: "MessageQuery", budget: "Budget"
) -> "AsyncGenerator[tuple[pa.Table, Scan], None]":
    """Tables of hits, and how far the look has come; it ends with its reader."""
    from moldau.console.messages.scanning import Scanner, readers  # noqa: PLC0415

    with SCANS.taking(who(call)):
        settings = call.cluster.settings
        async with readers(settings, is_uncommitted=query.is_uncommitted) as found:
            scanner = Scanner(found, call.path("topic"), query, budget, view_of(call))
            async with aclosing(scanner.run()) as tables:
                async for table in tables:
                    yield table, scanner.scan
