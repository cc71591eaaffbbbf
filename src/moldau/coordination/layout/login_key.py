"""The secret by which brokers answer for users that are not there; Kafka has no such node.

All brokers have the same, and keep it, or their answers would differ where those about users
that are there do not.
"""

import base64

from moldau.coordination.layout.documents import Document, NodeDataError, encode

LOGIN_KEY_PATH = "/moldau/login_key"


def encode_login_key(key: bytes) -> bytes:
    return encode({"version": 1, "key": base64.b64encode(key).decode()})


def decode_login_key(data: bytes) -> bytes:
    try:
        return base64.b64decode(Document.decode(data).text("key"), validate=True)
    except ValueError as error:
        raise NodeDataError("the key is not base64") from error
