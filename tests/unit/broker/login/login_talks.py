"""What clients may say during a login, and what they were answered by Apache Kafka 3.9."""

import base64
import json
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

from moldau.protocol.messages.api_versions import ApiVersionsRequest
from moldau.protocol.messages.describe_cluster import DescribeClusterRequest
from moldau.protocol.messages.heartbeat import HeartbeatRequest
from moldau.protocol.messages.list_groups import ListGroupsRequest
from moldau.protocol.messages.metadata import MetadataRequest
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest
from unit.broker.login.logging_in import authenticate, handshake
from unit.broker.world import frame_of

RECORDED = Path(__file__).with_name("apache-3.9-logins.jsonl")
KAFKA = "org.apache.kafka.common.security"
SASL, SHORT, PLAIN = "SASL_PLAINTEXT", "SHORT", "PLAINTEXT"
SESSION_MS = 3_600_000
MECHANISMS = "PLAIN,SCRAM-SHA-256,OAUTHBEARER"
CLOSED = "closed"
_TIMEOUT_S = 10
_FAR_S = 9_000_000_000
_VALID: dict[str, object] = {"exp": _FAR_S}
_RIGHT = b"\0anna\0sesam"

_ASKING = ApiVersionsRequest(client_software_name="test", client_software_version="1")
Talk = tuple[str, str, Sequence[bytes | bytearray]]

VERSIONS = bytes(frame_of(_ASKING, 3))
_UNKNOWN_VERSION = VERSIONS[:2] + (99).to_bytes(2, "big") + VERSIONS[4:]
_METADATA = bytes(frame_of(MetadataRequest(topics=None), 9))


def settings(listeners: str) -> dict[str, str]:
    """Those of a broker of either kind; `listeners` are the three of the table."""
    prefix = "listener.name.sasl_plaintext"
    own = f'{KAFKA}.plain.PlainLoginModule required user_anna="sesam" user_eve="apple";'
    scram = f"{KAFKA}.scram.ScramLoginModule required;"
    bearer = (
        f"{KAFKA}.oauthbearer.OAuthBearerLoginModule required "
        'unsecuredLoginStringClaim_sub="broker";'
    )
    modules = {"plain": own, "scram-sha-256": scram, "oauthbearer": bearer}
    return {
        "listeners": listeners,
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SHORT:SASL_PLAINTEXT"
        ),
        "sasl.enabled.mechanisms": MECHANISMS,
        **{
            f"listener.name.{name}.{mechanism}.sasl.jaas.config": module
            for name in ("sasl_plaintext", "short")
            for mechanism, module in modules.items()
        },
        "listener.name.short.connections.max.reauth.ms": str(SESSION_MS),
        f"{prefix}.sasl.server.max.receive.size": "10000",
        "connection.failed.authentication.delay.ms": "1",
    }


def talks() -> Iterator[Talk]:
    """A name, the listener, and the frames that are sent, each after an answer to the last."""
    yield "a request first", SASL, [_METADATA]
    yield "a token first", SASL, [authenticate(_RIGHT)]
    yield "versions, unknown ones before", SASL, [_UNKNOWN_VERSION, VERSIONS]
    yield "versions twice", SASL, [VERSIONS, VERSIONS]
    yield "versions and a handshake", SASL, [VERSIONS, handshake("PLAIN")]
    for version in (0, 1):
        yield f"unknown mechanism {version}", SASL, [handshake("X", version)]
        yield f"no mechanism {version}", SASL, [handshake("", version)]
        yield f"a request after handshake {version}", SASL, [handshake("PLAIN", version), _METADATA]
    for name, frame in _others():
        yield f"{name} within a login", SASL, [handshake("PLAIN"), frame]
    # From tokens in messages to bare ones, and back.
    down: list[bytes | bytearray] = [handshake("PLAIN"), handshake("PLAIN", 0), _RIGHT]
    yield "downgrade within a login", SASL, down
    yield "downgrade without a handshake", SASL, [bytes(handshake("PLAIN")), _RIGHT]
    up = [handshake("PLAIN", 0), handshake("PLAIN"), authenticate(_RIGHT)]
    yield "upgrade within a login", SASL, up
    yield "message after bare tokens were chosen", SASL, [up[0], up[2]]
    yield "handshake of another version", SASL, [_with_version(handshake("PLAIN"), 9)]
    again = _with_version(authenticate(_RIGHT), 9)
    yield "token of another version", SASL, [handshake("PLAIN"), again]
    yield "bare token", SASL, [handshake("PLAIN", 0), _RIGHT]
    yield "bare token, wrong", SASL, [handshake("PLAIN", 0), b"\0anna\0wrong"]
    for version in (0, 1, 2):
        yield f"token {version}", SASL, [handshake("PLAIN"), authenticate(_RIGHT, version)]
        wrong = authenticate(b"\0anna\0wrong", version)
        yield f"token {version}, wrong", SASL, [handshake("PLAIN"), wrong]
    yield "too large", SASL, [bytes(10_001)]
    yield "too large within a login", SASL, [handshake("PLAIN"), bytes(10_001)]
    yield from _after_a_login()
    yield from _tokens()


def _others() -> Iterator[tuple[str, bytes]]:
    yield "versions", VERSIONS
    yield "a handshake", bytes(handshake("PLAIN"))
    yield "a list of groups", bytes(frame_of(ListGroupsRequest(), 3))
    yield (
        "a look at the cluster",
        bytes(frame_of(DescribeClusterRequest(include_cluster_authorized_operations=False), 0)),
    )
    beat = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    yield "a heartbeat", bytes(frame_of(beat, 3))


def _after_a_login() -> Iterator[Talk]:
    logged_in = [bytes(handshake("PLAIN")), bytes(authenticate(_RIGHT))]
    old = bytes(frame_of(SaslHandshakeRequest(mechanism="PLAIN"), 0))
    for version in (0, 1, 2):
        token = bytes(authenticate(_RIGHT, version))
        yield f"token {version} after a login", SASL, [*logged_in, token, VERSIONS]
        yield f"token {version} without logins", PLAIN, [token, VERSIONS]
    for frame in (old, logged_in[0]):
        version = frame[3]
        yield f"handshake {version} after a login", SASL, [*logged_in, frame, VERSIONS]
        yield f"handshake {version} without logins", PLAIN, [frame, VERSIONS]
        yield f"handshake {version} too soon", SHORT, [*logged_in, frame, VERSIONS]
    yield "token before a renewal", SHORT, [*logged_in, logged_in[1], VERSIONS]


def _tokens() -> Iterator[Talk]:
    for token in (
        b"\0nobody\0sesam",
        b"",
        b"anna\0sesam",
        b"\0anna\0sesam\0",
        b"\0\0sesam",
        b"\0anna\0",
        b"\0\0",
        b"eve\0anna\0sesam",
        b"anna\0anna\0sesam",
        b"\xff\0\xff\0\xff",
    ):
        yield f"PLAIN {token!r}", SASL, [handshake("PLAIN"), authenticate(token)]
    for token in (b"", b"rubbish", b"p=x,,n=anna,r=abc", b"n,a=eve,n=anna,r=abc", b"n,,n=anna"):
        frames = [handshake("SCRAM-SHA-256"), authenticate(token)]
        yield f"SCRAM-SHA-256 {token!r}", SASL, frames
    for token in (b"rubbish", b"n,,\1\1", b"n,,\1auth=Basic x\1\1", b"n,,\1auth=Bearer a.b.c\1\1"):
        frames = [handshake("OAUTHBEARER"), authenticate(token), authenticate(b"\1")]
        yield f"OAUTHBEARER {token!r}", SASL, frames
    cases: list[dict[str, object]] = [
        _VALID,
        {"exp": 1},
        {"sub": "eve"},
        {**_VALID, "iat": _FAR_S},
    ]
    for claims in cases:
        token = _bearer("", claims)
        # How long the session lasts is not told before version 1, and would never be the same.
        frames = [handshake("OAUTHBEARER"), authenticate(token, 0), authenticate(b"\1", 0)]
        yield f"OAUTHBEARER {claims}", SASL, frames
    for name in ("anna", "eve"):
        frames = [handshake("OAUTHBEARER"), authenticate(_bearer(f"a={name}", _VALID), 0)]
        yield f"OAUTHBEARER for {name}", SASL, frames


def _bearer(authorization: str, claims: dict[str, object]) -> bytes:
    """Unsigned, as Kafka's example has it."""
    parts = ({"alg": "none"}, {"sub": "anna", **claims})
    encoded = (base64.urlsafe_b64encode(json.dumps(each).encode()).decode() for each in parts)
    token = ".".join(each.rstrip("=") for each in encoded)
    return f"n,{authorization},\1auth=Bearer {token}.\1\1".encode()


def _with_version(frame: bytearray, version: int) -> bytes:
    return bytes(frame[:2] + version.to_bytes(2, "big") + frame[4:])


def answers(port: int, frames: Sequence[bytes | bytearray]) -> list[str]:
    """What is answered to each frame, in hexadecimal; of versions, the error alone."""
    heard = []
    with socket.create_connection(("127.0.0.1", port), _TIMEOUT_S) as connection:
        for frame in frames:
            try:
                connection.sendall(len(frame).to_bytes(4, "big") + frame)
                heard.append(_answer(connection, is_of_versions=frame[:2] == VERSIONS[:2]))
            except ConnectionError:
                heard.append(CLOSED)
            if heard[-1] == CLOSED:
                break
    return heard


def _answer(connection: socket.socket, *, is_of_versions: bool) -> str:
    with connection.makefile("rb") as stream:
        size = stream.read(4)
        if len(size) < 4:
            return CLOSED
        answer = stream.read(int.from_bytes(size, "big"))
    return (answer[:6] if is_of_versions else answer).hex()


def recorded() -> dict[str, list[str]]:
    """What Apache's broker answered, by the name of the talk."""
    rows = map(json.loads, RECORDED.read_text().splitlines())
    return {row["talk"]: row["answers"] for row in rows}
