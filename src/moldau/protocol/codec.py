"""Messages to bytes and back.

The code for a message in a version is compiled when it is first needed, see
`encoder` and `decoder`.
"""

from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

from moldau.protocol.decoder import compile_decoder, compile_pausing_decoder
from moldau.protocol.encoder import compile_encoder, compile_pausing_encoder
from moldau.protocol.primitives import Buffer, Part

T = TypeVar("T")

Encoder: TypeAlias = Callable[[Any], list[Any]]
Decoder: TypeAlias = Callable[[Buffer, int], tuple[T, int]]
PausingEncoder: TypeAlias = Callable[[Any], Generator[int, None, list[Any]]]
PausingDecoder: TypeAlias = Callable[[Buffer, int], Generator[int, None, tuple[T, int]]]

_ENCODERS: dict[type, dict[int, Encoder]] = {}
_DECODERS: dict[type, dict[int, Decoder[Any]]] = {}
_PAUSING_ENCODERS: dict[type, dict[int, PausingEncoder]] = {}
_PAUSING_DECODERS: dict[type, dict[int, PausingDecoder[Any]]] = {}


def encode(message: object, version: int) -> bytes:
    """The message in one piece; its records must be buffers.

    Raises `KafkaError` (UNSUPPORTED_VERSION) if the message says something that
    this version cannot.
    """
    return b"".join(encoder_of(type(message), version)(message))


def encode_parts(message: object, version: int) -> list[Part]:
    """The message in pieces; the records among them are the message's own objects.

    Records need only have a length, so that a range of a file can travel through
    here to `sendfile`.
    """
    return encoder_of(type(message), version)(message)


def decode(cls: type[T], version: int, buffer: Buffer, position: int = 0) -> tuple[T, int]:
    """The message at `position` and the position after it.

    Records are views on `buffer`. Bytes may follow the message: whether that is an
    error is for the caller to say. Raises `ProtocolError` on anything that is not
    such a message.
    """
    return decoder_of(cls, version)(buffer, position)


def encoder_of(cls: type, version: int) -> Encoder:
    """What `encode_parts` uses for this message and version."""
    try:
        return _ENCODERS[cls][version]
    except KeyError:
        encoder = _ENCODERS.setdefault(cls, {})[version] = compile_encoder(cls, version)
        return encoder


def decoder_of(cls: type[T], version: int) -> Decoder[T]:
    """What `decode` uses for this message and version."""
    try:
        return _DECODERS[cls][version]
    except KeyError:
        decoder = _DECODERS.setdefault(cls, {})[version] = compile_decoder(cls, version)
        return decoder


def pausing_encoder_of(cls: type, version: int) -> PausingEncoder:
    """For long messages: a generator of the same parts, which yields every few hundred elements.

    It yields how many bytes there are behind the last records, for callers that do not want any
    number.
    """
    encoders = _PAUSING_ENCODERS.setdefault(cls, {})
    if version not in encoders:
        encoders[version] = compile_pausing_encoder(cls, version)
    return encoders[version]


def pausing_decoder_of(cls: type[T], version: int) -> PausingDecoder[T]:
    """For long messages: a generator of the same result, which yields every few hundred elements.

    It yields how many elements there were so far, for callers that do not want any number.
    """
    decoders = _PAUSING_DECODERS.setdefault(cls, {})
    if version not in decoders:
        decoders[version] = compile_pausing_decoder(cls, version)
    return decoders[version]
