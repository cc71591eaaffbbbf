"""What a task does: fetch ranges of offsets and hand them to Spark as Arrow batches."""

from collections.abc import Iterable, Iterator

import pyarrow as pa

from moldau.spark.batches import BatchMaker
from moldau.spark.fetching import RangeFetch
from moldau.spark.link import Link
from moldau.spark.options import SourceOptions
from moldau.spark.planning import Range
from moldau.spark.worker import settle

LINKS_MAX = 4
_links: dict[tuple[tuple[str, str], ...], Link] = {}
"""Of this worker process, which does one task after the other: the next need not connect."""


def read_ranges(wanted: Iterable[Range], options: SourceOptions) -> Iterator[pa.RecordBatch]:
    """One range after the other."""
    settle()
    for each in wanted:
        yield from read_range(each, options)


def read_range(wanted: Range, options: SourceOptions) -> Iterator[pa.RecordBatch]:
    """All records of a range that exist, in the order of their offsets."""
    link = _links.pop(options.client, None) or Link(options.client)
    fetch = RangeFetch(link, wanted, fails_on_data_loss=options.fails_on_data_loss)
    maker = BatchMaker(wanted.partition, options.columns, options.value)
    is_sound = False
    try:
        for fetched in fetch:
            yield from maker.batches(fetched)
        is_sound = True
    except GeneratorExit:
        is_sound = True  # enough was read
        raise
    finally:
        if is_sound:
            _keep(link, options)
        else:
            link.close()


def _keep(link: Link, options: SourceOptions) -> None:
    before = _links.pop(options.client, None)
    _links[options.client] = link
    surplus = [before] if before is not None else []
    while len(_links) > LINKS_MAX:
        surplus.append(_links.pop(next(iter(_links))))
    for each in surplus:
        each.close()
