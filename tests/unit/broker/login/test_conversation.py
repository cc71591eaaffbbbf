"""The table of what may be said during a login, and what is answered (as Apache 3.9 answers)."""

import pytest

from moldau.broker.login.conversation import (
    Conversation,
    Ending,
    Exchange,
    HangUp,
    PassOn,
    Refuse,
    Say,
    Step,
)
from moldau.broker.login.identity import Identity
from moldau.errors import ErrorCode
from moldau.protocol.messages.api_versions import ApiVersionsRequest
from moldau.protocol.messages.metadata import MetadataRequest
from moldau.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from moldau.protocol.messages.sasl_handshake import SaslHandshakeRequest
from moldau.runtime.clock import Moment
from unit.broker.login.logging_in import Word, authenticate, handshake, heard
from unit.broker.world import frame_of

NOW = Moment(1_000_000, 1_700_000_000_000)
VERSIONS = frame_of(ApiVersionsRequest(), 3)
METADATA = frame_of(MetadataRequest(topics=None), 9)


def after(ms: int) -> Moment:
    return Moment(NOW.monotonic_ms + ms, NOW.wall_ms + ms)


def conversation(*mechanisms: Word) -> Conversation:
    return Conversation(mechanisms or (Word(), Word("OTHER")))


def say(one: Conversation, *frames: bytes | bytearray, now: Moment = NOW) -> Step:
    """The last step; those before must go on."""
    *before, last = frames
    for frame in before:
        assert not isinstance(one.receive(memoryview(frame), now), HangUp)
    return one.receive(memoryview(last), now)


def logged_in(mechanism: Word | None = None, user: str = "anna") -> Conversation:
    one = conversation(mechanism or Word(), Word("OTHER"))
    say(one, handshake(), authenticate(user.encode()))
    one.exchanged(b"", Identity(user), NOW)
    return one


def test_versions_are_told_before_a_login_and_may_be_left_out() -> None:
    assert say(conversation(), VERSIONS) == PassOn()
    chosen = say(conversation(), VERSIONS, handshake())
    assert isinstance(chosen, Say)
    assert isinstance(say(conversation(), handshake()), Say)


def test_a_handshake_is_answered_with_the_mechanisms() -> None:
    step = say(conversation(), handshake())
    assert isinstance(step, Say)
    assert step.begins is not None
    assert step.begins.name == "WORD"
    answer = heard(step.answer, SaslHandshakeRequest, 1)
    assert (answer.error_code, answer.mechanisms) == (0, ["WORD", "OTHER"])


@pytest.mark.parametrize("frame", [METADATA, authenticate(b"anna"), b"\0\0", b"", b"\xff" * 20])
def test_anything_else_first_is_a_failed_login_without_an_answer(frame: bytes) -> None:
    for before in ((), (VERSIONS,)):
        step = say(conversation(), *before, frame)
        assert isinstance(step, HangUp)
        assert (step.answer, step.ending) == (b"", Ending.FAILED)


def test_versions_asked_for_in_an_unknown_version_may_be_asked_for_again() -> None:
    one = conversation()
    unknown = bytearray(VERSIONS)
    unknown[2:4] = (99).to_bytes(2, "big")
    assert say(one, unknown, unknown) == PassOn()
    assert say(one, VERSIONS) == PassOn()
    step = say(one, VERSIONS)
    assert isinstance(step, HangUp)
    assert step.ending is Ending.OUT_OF_TURN


def test_versions_asked_for_twice_end_it_at_once() -> None:
    step = say(conversation(), VERSIONS, VERSIONS)
    assert isinstance(step, HangUp)
    assert (step.answer, step.ending) == (b"", Ending.OUT_OF_TURN)


@pytest.mark.parametrize("version", [0, 1])
def test_an_unknown_mechanism_is_answered_with_those_there_are_and_the_end(version: int) -> None:
    step = say(conversation(), handshake("GSSAPI", version))
    assert isinstance(step, HangUp)
    assert step.ending is Ending.FAILED
    answer = heard(step.answer, SaslHandshakeRequest, version)
    assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
    assert answer.mechanisms == ["WORD", "OTHER"]


def test_a_long_name_of_a_mechanism_is_not_repeated_in_the_log() -> None:
    step = say(conversation(), handshake("x\n" * 5000))
    assert isinstance(step, HangUp)
    assert len(step.reason) < 200
    assert "\n" not in step.reason


@pytest.mark.parametrize("frame", [VERSIONS, METADATA, handshake()])
def test_another_request_during_the_exchange_is_refused_in_its_own_words(frame: bytes) -> None:
    step = say(conversation(), handshake(), frame)
    assert isinstance(step, Refuse)
    assert step.error.code is ErrorCode.ILLEGAL_SASL_STATE


@pytest.mark.parametrize("version", [0, 1, 2])
def test_tokens_travel_in_messages_after_version_1(version: int) -> None:
    one = conversation()
    assert say(one, handshake(), authenticate(b"more", version)) == Exchange(b"more")
    step = one.exchanged(b"who?", None, NOW)
    assert isinstance(step, Say)
    answer = heard(step.answer, SaslAuthenticateRequest, version)
    assert (answer.error_code, answer.error_message, answer.auth_bytes) == (0, "", b"who?")
    assert say(one, authenticate(b"anna", version)) == Exchange(b"anna")
    step = one.exchanged(b"hello", Identity("anna"), NOW)
    assert isinstance(step, Say)
    answer = heard(step.answer, SaslAuthenticateRequest, version)
    assert (answer.error_code, answer.error_message, answer.auth_bytes) == (0, "", b"hello")
    assert one.is_open
    assert one.ends_at_ms is None
    assert say(one, METADATA) == PassOn()


def test_tokens_travel_bare_after_version_0() -> None:
    one = conversation()
    assert say(one, handshake(version=0), b"more") == Exchange(b"more")
    assert one.exchanged(b"who?", None, NOW) == Say(b"\0\0\0\x04who?")
    assert say(one, b"anna") == Exchange(b"anna")
    assert one.exchanged(b"", Identity("anna"), NOW) == Say(b"\0\0\0\0")
    assert one.is_open


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_failure_is_told_in_messages(version: int) -> None:
    one = conversation()
    say(one, handshake(), authenticate(b"wrong", version))
    step = one.failed("the word is wrong")
    assert isinstance(step, HangUp)
    answer = heard(step.answer, SaslAuthenticateRequest, version)
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert (answer.error_message, answer.auth_bytes) == ("the word is wrong", b"")


def test_a_failure_that_is_not_to_be_told_is_told_in_kafka_s_words() -> None:
    one = conversation(Word("SCRAM-SHA-256"))
    say(one, handshake("SCRAM-SHA-256"), authenticate(b"wrong"))
    step = one.failed(None)
    assert isinstance(step, HangUp)
    assert step.reason == (
        "Authentication failed during authentication due to invalid credentials with SASL "
        "mechanism SCRAM-SHA-256"
    )
    assert heard(step.answer, SaslAuthenticateRequest, 2).error_message == step.reason


def test_a_failure_after_version_0_ends_without_a_byte() -> None:
    one = conversation()
    say(one, handshake(version=0), b"wrong")
    step = one.failed("the word is wrong")
    assert isinstance(step, HangUp)
    assert (step.answer, step.ending) == (b"", Ending.FAILED)


@pytest.mark.parametrize("frame", [handshake(version=1), authenticate(b"anna")])
def test_after_a_login_without_end_everything_passes(frame: bytes) -> None:
    assert say(logged_in(), frame) == PassOn()


@pytest.mark.parametrize("key_and_version", [(17, 2), (17, -1), (36, 3)])
def test_an_unknown_version_is_a_failed_login(key_and_version: tuple[int, int]) -> None:
    key, version = key_and_version
    frame = handshake() if key == 17 else authenticate(b"anna")
    frame[2:4] = version.to_bytes(2, "big", signed=True)
    before = () if key == 17 else (handshake(),)
    step = say(conversation(), *before, frame)
    assert isinstance(step, HangUp)
    assert step.answer == b""


# Logins that end (KIP-368)


def lifetime_of(step: Step) -> int:
    assert isinstance(step, Say)
    lifetime: int = heard(step.answer, SaslAuthenticateRequest, 2).session_lifetime_ms
    return lifetime


@pytest.mark.parametrize(
    ("reauthentication_ms", "expires_in_ms", "lifetime_ms"),
    [(0, None, 0), (5000, None, 5000), (0, 700, 700), (5000, 700, 700), (5000, 9000, 5000)],
)
def test_a_login_holds_as_long_as_the_shorter_of_both(
    reauthentication_ms: int, expires_in_ms: int | None, lifetime_ms: int
) -> None:
    one = conversation(Word(reauthentication_ms=reauthentication_ms))
    say(one, handshake(), authenticate(b"anna"))
    expires_ms = None if expires_in_ms is None else NOW.wall_ms + expires_in_ms
    step = one.exchanged(b"", Identity("anna", expires_at_ms=expires_ms), NOW)
    assert lifetime_of(step) == lifetime_ms
    assert one.ends_at_ms == (NOW.monotonic_ms + lifetime_ms if lifetime_ms else None)


def test_an_answer_in_between_tells_no_time() -> None:
    one = conversation(Word(reauthentication_ms=5000))
    say(one, handshake(), authenticate(b"more"))
    assert lifetime_of(one.exchanged(b"more", None, NOW)) == 0
    say(one, authenticate(b"anna"))
    assert lifetime_of(one.exchanged(b"", Identity("anna"), NOW)) == 5000


def test_a_credential_that_has_expired_gives_a_login_that_is_over() -> None:
    one = conversation()
    say(one, handshake(), authenticate(b"anna"))
    step = one.exchanged(b"", Identity("anna", expires_at_ms=NOW.wall_ms - 5), NOW)
    assert lifetime_of(step) == 0
    assert one.ends_at_ms == NOW.monotonic_ms
    step = say(one, METADATA, now=after(1))
    assert isinstance(step, HangUp)
    assert step.ending is Ending.EXPIRED


def test_after_its_end_a_login_lets_nothing_pass_but_the_next_one() -> None:
    one = logged_in(Word(reauthentication_ms=5000))
    assert say(one, METADATA, now=after(5000)) == PassOn()
    late = after(5001)
    for frame in (METADATA, VERSIONS, authenticate(b"anna")):
        step = say(one, frame, now=late)
        assert isinstance(step, HangUp)
        assert (step.answer, step.ending) == (b"", Ending.EXPIRED)
    assert isinstance(say(one, handshake(), now=late), Say)


def test_a_login_is_renewed() -> None:
    one = logged_in(Word(reauthentication_ms=5000))
    step = say(one, handshake(), now=after(4000))
    assert isinstance(step, Say)
    assert step.begins is not None
    assert one.is_renewing
    assert say(one, authenticate(b"anna"), now=after(4001)) == Exchange(b"anna")
    assert lifetime_of(one.exchanged(b"", Identity("anna"), after(4001))) == 5000
    assert say(one, METADATA, now=after(9001)) == PassOn()
    assert isinstance(say(one, METADATA, now=after(9002)), HangUp)


def test_a_request_during_a_renewal_is_refused() -> None:
    one = logged_in(Word(reauthentication_ms=5000))
    assert isinstance(say(one, handshake(), METADATA, now=after(4000)), Refuse)


def test_a_login_is_not_renewed_twice_within_a_second() -> None:
    one = logged_in(Word(reauthentication_ms=5000))
    say(one, handshake(), authenticate(b"anna"), now=after(1))
    one.exchanged(b"", Identity("anna"), after(2))
    assert say(one, handshake(), now=after(1000)) == PassOn()
    assert isinstance(say(one, handshake(), now=after(1001)), Say)


def test_a_renewal_keeps_the_mechanism() -> None:
    one = logged_in(Word(reauthentication_ms=5000))
    step = say(one, handshake("OTHER"), now=after(4000))
    assert isinstance(step, Say)
    assert step.begins is None
    assert heard(step.answer, SaslHandshakeRequest, 1).error_code == 0
    step = say(one, authenticate(b"anna"), now=after(4000))
    assert isinstance(step, HangUp)
    assert (step.answer, step.ending) == (b"", Ending.FAILED)


def test_a_renewal_keeps_the_user() -> None:
    one = logged_in(Word(reauthentication_ms=5000), "admin")
    say(one, handshake(), authenticate(b"eve"), now=after(4000))
    step = one.exchanged(b"", Identity("eve"), after(4000))
    assert isinstance(step, HangUp)
    answer = heard(step.answer, SaslAuthenticateRequest, 2)
    assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert answer.error_message == (
        "Cannot change principals during re-authentication from User.admin: User.eve"
    )
    assert one.identity == Identity("admin")


def test_a_renewal_that_fails_is_called_one() -> None:
    one = logged_in(Word(reauthentication_ms=5000))
    say(one, handshake(), authenticate(b"wrong"), now=after(4000))
    step = one.failed(None)
    assert isinstance(step, HangUp)
    assert "during re-authentication due to" in step.reason
