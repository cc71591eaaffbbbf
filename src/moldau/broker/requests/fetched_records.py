"""What was read of a partition as the client can read it: as it is, or in an older format."""

from functools import partial

from moldau.broker.requests.reads import PartitionRead, ReadTerms, end_of
from moldau.errors import ErrorCode, KafkaError
from moldau.records.batch import CODEC_MASK, MAGIC, iterate_headers
from moldau.records.downconvert import Allowance, down_convert, magic_for_fetch
from moldau.replication.partition import Partition
from moldau.runtime.file_range import FileRange
from moldau.runtime.threads import in_thread

CONVERTED_BEFORE = 10
"""The first version of Fetch whose clients can read everything that a log may hold."""
_CONVERTED_MAX_BYTES = 64 * 2**20
"""Of a batch; and of a request, which may go beyond it by one batch."""
# More is rewritten in a thread: the loop has others to serve.
_CONVERTED_ON_LOOP_BYTES = 16_384


def allowance_of_request() -> Allowance:
    """How much is rewritten for one request."""
    return Allowance(_CONVERTED_MAX_BYTES)


async def convert(
    read: PartitionRead, terms: ReadTerms, version: int, allowance: Allowance
) -> None:
    """Make what was read readable in this version, or give the partition an error instead.

    Nothing is given of what comes after the allowance is used up: the client asks again.
    """
    if read.partition is None or read.error is not None:
        return
    magic = magic_for_fetch(version)
    try:
        _require_readable(read.partition, magic)
        if magic < MAGIC and read.records is not None:
            is_left = allowance.remaining > 0
            read.records = await _converted(read, terms, magic, allowance) if is_left else b""
    except KafkaError as error:
        read.fail(error)


def _require_readable(partition: Partition, magic: int) -> None:
    config = partition.log.config
    if config.compression_type == "zstd":
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Fetch version 10")
    if magic < MAGIC and not config.message_downconversion_enable:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, "down-conversion is disabled")


async def _converted(
    read: PartitionRead, terms: ReadTerms, magic: int, allowance: Allowance
) -> bytes | bytearray:
    """Rewrite what was read; go on reading where nothing is left of it.

    The older formats have no control batches. A client that got nothing instead of one
    would ask for the same offset for ever.
    """
    assert read.partition is not None
    assert isinstance(read.records, FileRange)
    file_range: FileRange | None = read.records
    while file_range is not None:
        data = await _read(file_range)
        headers = [header for _, header in iterate_headers(data)]
        if not headers:
            return data  # a part of a batch shows the client that its limit is too small
        # What compressed records open to is not known, nor how many they are.
        is_quick = len(data) <= _CONVERTED_ON_LOOP_BYTES and not any(
            header.attributes & CODEC_MASK for header in headers
        )
        convert = partial(
            down_convert,
            data,
            to_magic=magic,
            start_offset=read.want.fetch_offset,
            limit_bytes=_CONVERTED_MAX_BYTES,
            allowance=allowance,
        )
        converted = convert() if is_quick else await in_thread(convert)
        if converted:
            return converted
        file_range = read.partition.log.read(
            headers[-1].next_offset,
            max_bytes=file_range.size,
            end_offset=end_of(read.partition, terms),
            at_least_one=True,
        ).range
    return b""


async def _read(file_range: FileRange) -> bytes:
    data = file_range.read_cached() if file_range.size <= _CONVERTED_ON_LOOP_BYTES else None
    return await in_thread(file_range.read) if data is None else data
