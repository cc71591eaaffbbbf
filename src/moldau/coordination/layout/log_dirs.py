"""Failed log directories: a broker notifies the controller."""

from moldau.coordination.layout.documents import Document, encode

EVENTS_PATH = "/log_dir_event_notification"
EVENT_PREFIX = f"{EVENTS_PATH}/log_dir_event_"


def encode_log_dir_failure(broker_id: int) -> bytes:
    return encode({"version": 1, "broker": broker_id, "event": 1})


def decode_log_dir_failure(data: bytes) -> int:
    """The broker with a failed directory."""
    return Document.decode(data).integer("broker")
