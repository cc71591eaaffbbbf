"""The controller: which broker it is, and how often it has changed."""

from dataclasses import dataclass

from moldau.coordination.layout.documents import Document, NodeDataError, encode, parse_integer

PATH = "/controller"
EPOCH_PATH = "/controller_epoch"


@dataclass(frozen=True, slots=True)
class ControllerRegistration:
    """`/controller`, an ephemeral node of the broker that is the controller."""

    broker_id: int
    timestamp_ms: int

    def encode(self) -> bytes:
        return encode(
            {
                "version": 2,
                "brokerid": self.broker_id,
                "timestamp": str(self.timestamp_ms),
                "kraftControllerEpoch": -1,
            }
        )


def decode_controller(data: bytes) -> ControllerRegistration:
    document = Document.decode(data)
    return ControllerRegistration(
        document.integer("brokerid"), parse_integer(document.text("timestamp"))
    )


def encode_epoch(epoch: int) -> bytes:
    """`/controller_epoch` is a number in plain text."""
    return str(epoch).encode()


def decode_epoch(data: bytes) -> int:
    try:
        return parse_integer(data.decode("ascii"))
    except UnicodeDecodeError as error:
        raise NodeDataError("a controller epoch is a number") from error
