"""Failed log directories."""

from moldau.coordination.layout.log_dirs import (
    EVENT_PREFIX,
    decode_log_dir_failure,
    encode_log_dir_failure,
)
from unit.coordination.layout.conftest import Nodes


def test_a_failure_is_told_as_apache_kafka_tells_it(apache: Nodes) -> None:
    assert encode_log_dir_failure(1) == apache["log-dir-event"]
    assert decode_log_dir_failure(apache["log-dir-event"]) == 1
    assert f"{EVENT_PREFIX}0000000003".encode() == apache["log-dir-path"]
