"""SCRAM, both sides, and the example of RFC 7677."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import SaslAuthenticationFailed
from moldau.security.scram import (
    MECHANISMS,
    ScramClient,
    ScramSecret,
    ScramServer,
    salted_password,
)

SALT = b"salt" * 4


def secret(mechanism: str, password: str, iterations: int = 4096) -> ScramSecret:
    salted = salted_password(mechanism, password, salt=SALT, iterations=iterations)
    return ScramSecret.of_salted(mechanism, salted, salt=SALT, iterations=iterations)


def server_of(mechanism: str, password: str = "sesam", iterations: int = 4096) -> ScramServer:
    known = secret(mechanism, password, iterations)
    return ScramServer(mechanism, "server", lambda user, _: known if user == "a,=n" else None)


def run(client: ScramClient, server: ScramServer) -> None:
    proof = client.answer(server.answer(client.begin()))
    assert proof is not None
    assert client.answer(server.answer(proof)) is None


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("is_token", [True, False])
def test_both_sides_agree(mechanism: str, *, is_token: bool) -> None:
    client = ScramClient(mechanism, "a,=n", "sesam", "client", is_token=is_token)
    server = server_of(mechanism)
    run(client, server)
    assert client.is_complete
    assert (server.user, server.is_token) == ("a,=n", is_token)
    with pytest.raises(SaslAuthenticationFailed, match="over"):
        server.answer(b"n,,n=x,r=y")


def test_the_example_of_the_standard() -> None:
    client = ScramClient("SCRAM-SHA-256", "user", "pencil", "rOprNGfwEbeRWgbNEkqO")
    assert client.begin() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    challenge = f"r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
    proof = client.answer(challenge)
    assert proof == f"c=biws,r={nonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
    assert client.answer(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=") is None
    assert client.is_complete


def test_a_wrong_password_is_noticed_by_either_side() -> None:
    server = server_of("SCRAM-SHA-256")
    client = ScramClient("SCRAM-SHA-256", "a,=n", "wrong", "client")
    with pytest.raises(SaslAuthenticationFailed, match="wrong user or password"):
        run(client, server)
    assert server.user is None
    client = ScramClient("SCRAM-SHA-256", "a,=n", "sesam", "client")
    assert client.answer(server_of("SCRAM-SHA-256").answer(client.begin())) is not None
    with pytest.raises(SaslAuthenticationFailed, match="does not know the password"):
        client.answer(b"v=" + base64.b64encode(bytes(32)))


def test_an_unknown_user_is_refused_as_a_wrong_password_is() -> None:
    client = ScramClient("SCRAM-SHA-256", "ben", "sesam", "client")
    with pytest.raises(SaslAuthenticationFailed, match="wrong user or password"):
        server_of("SCRAM-SHA-256").answer(client.begin())


@pytest.mark.parametrize(
    ("challenge", "reason"),
    [
        (b"e=other-error", "other-error"),
        (b"r=stranger,s=c2FsdA==,i=4096", "nonce"),
        (b"r=client,s=c2FsdA==,i=4096", "nonce"),
        (b"r=clientserver,s=c2FsdA==,i=10", "10 iterations"),
        (b"r=clientserver,s=c2FsdA==,i=x", "not a number"),
        (b"r=clientserver,s=?,i=4096", "not base64"),
        (b"nonsense", "not a part"),
        (b"\xff", "is text"),
    ],
)
def test_a_strange_challenge_is_not_answered(challenge: bytes, reason: str) -> None:
    client = ScramClient("SCRAM-SHA-256", "a,=n", "sesam", "client")
    with pytest.raises(SaslAuthenticationFailed, match=reason):
        client.answer(challenge)


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (b"p=tls-unique,,n=a,r=b", "channel binding"),
        (b"n,,", "channel binding"),
        (b"", "channel binding"),
        (b"\xff", "is text"),
    ],
)
def test_a_strange_beginning_is_refused(token: bytes, reason: str) -> None:
    with pytest.raises(SaslAuthenticationFailed, match=reason):
        server_of("SCRAM-SHA-256").answer(token)


@pytest.mark.parametrize("proof", [b"c=biws,r=other,p=AAAA", b"c=biws,r=clientserver,p=AAAA"])
def test_a_strange_proof_is_refused(proof: bytes) -> None:
    server = server_of("SCRAM-SHA-256")
    server.answer(ScramClient("SCRAM-SHA-256", "a,=n", "sesam", "client").begin())
    with pytest.raises(SaslAuthenticationFailed):
        server.answer(proof)


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=3))
def test_no_bytes_get_anybody_in(tokens: list[bytes]) -> None:
    server = server_of("SCRAM-SHA-256")
    for token in tokens:
        try:
            server.answer(token)
        except SaslAuthenticationFailed:
            break
    assert server.user is None
