"""Names of the things that every part of the system talks about."""

import base64
import binascii
from typing import NamedTuple

NO_LEADER_EPOCH = -1
NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_TIMESTAMP = -1


class TopicPartition(NamedTuple):
    """One partition of one topic; prints as Kafka prints it."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def format_uuid(uuid: bytes) -> str:
    """A topic's or directory's id as Kafka prints and stores it: 22 characters of base64url."""
    return base64.urlsafe_b64encode(uuid).rstrip(b"=").decode("ascii")


def parse_uuid(text: str) -> bytes:
    """The 16 bytes that such a text stands for; ValueError if it is none."""
    try:
        uuid = base64.b64decode(text + "==", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{text!r} is not an id: {error}") from error
    if len(uuid) != 16:
        raise ValueError(f"{text!r} is not an id of 16 bytes")
    return uuid
