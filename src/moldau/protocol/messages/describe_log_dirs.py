"""DescribeLogDirs (key 35): show what lies in a broker's directories."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@struct
class DescribableLogDirTopic:
    topic: str
    partitions: list[Int32]


@message(api_key=35, versions=range(0, 5), flexible_from=2)
class DescribeLogDirsRequest:
    # None asks for all topics.
    topics: list[DescribableLogDirTopic] | None


@struct
class DescribeLogDirsPartition:
    partition_index: Int32
    partition_size: Int64
    offset_lag: Int64
    is_future_key: bool


@struct
class DescribeLogDirsTopic:
    name: str
    partitions: list[DescribeLogDirsPartition]


@struct
class DescribeLogDirsResult:
    error_code: Int16
    log_dir: str
    topics: list[DescribeLogDirsTopic]
    total_bytes: Int64 = since(4, default=-1, ignorable=True)
    usable_bytes: Int64 = since(4, default=-1, ignorable=True)


@message(api_key=35, versions=range(0, 5), flexible_from=2)
class DescribeLogDirsResponse:
    throttle_time_ms: Int32
    error_code: Int16 = since(3, default=0, ignorable=True)
    results: list[DescribeLogDirsResult]
