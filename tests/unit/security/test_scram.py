"""SCRAM, both sides, and the example of RFC 7677."""

import base64
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import SaslAuthenticationFailed
from moldau.security.scram import (
    MECHANISMS,
    ScramClient,
    ScramSecret,
    ScramServer,
    salt_of,
    salted_password,
)

SALT = b"salt" * 4


def secret(mechanism: str, password: str, iterations: int = 4096) -> ScramSecret:
    salted = salted_password(mechanism, password, salt=SALT, iterations=iterations)
    return ScramSecret.of_salted(mechanism, salted, salt=SALT, iterations=iterations)


class Server:
    """A server's side that knows one user, and of others what nobody can prove."""

    def __init__(self, mechanism: str, iterations: int = 4096) -> None:
        self.machine = ScramServer(mechanism, "server")
        self.mechanism = mechanism
        self.known = secret(mechanism, "sesam", iterations)

    def challenge(self, token: bytes) -> bytes:
        user, _ = self.machine.read_claim(token)
        nobody = ScramSecret.of_nobody(self.mechanism, user, b"key")
        return self.machine.challenge(self.known if user == "a,=n" else nobody)


def server_of(mechanism: str, iterations: int = 4096) -> Server:
    return Server(mechanism, iterations)


def run(client: ScramClient, server: Server) -> None:
    proof = client.answer(server.challenge(client.begin()))
    assert proof is not None
    assert client.answer(server.machine.verify(proof)) is None


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("is_token", [True, False])
def test_both_sides_agree(mechanism: str, *, is_token: bool) -> None:
    client = ScramClient(mechanism, "a,=n", "sesam", "client", is_token=is_token)
    server = server_of(mechanism)
    run(client, server)
    assert client.is_complete
    assert server.machine.claim == ("a,=n", is_token)


def test_the_example_of_the_standard() -> None:
    client = ScramClient("SCRAM-SHA-256", "user", "pencil", "rOprNGfwEbeRWgbNEkqO")
    assert client.begin() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    challenge = f"r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
    proof = client.answer(challenge)
    assert not client.is_complete
    assert proof == f"c=biws,r={nonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
    assert client.answer(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=") is None
    assert client.is_complete


def test_a_wrong_password_is_noticed_by_either_side() -> None:
    server = server_of("SCRAM-SHA-256")
    client = ScramClient("SCRAM-SHA-256", "a,=n", "wrong", "client")
    with pytest.raises(SaslAuthenticationFailed, match="wrong user or password"):
        run(client, server)
    client = ScramClient("SCRAM-SHA-256", "a,=n", "sesam", "client")
    assert client.answer(server_of("SCRAM-SHA-256").challenge(client.begin())) is not None
    with pytest.raises(SaslAuthenticationFailed, match="does not know the password"):
        client.answer(b"v=" + base64.b64encode(bytes(32)))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_stranger_is_refused_at_the_end_as_a_wrong_password_is(mechanism: str) -> None:
    client = ScramClient(mechanism, "ben", "sesam", "client")
    with pytest.raises(SaslAuthenticationFailed, match="wrong user or password"):
        run(client, server_of(mechanism))


def test_a_stranger_has_always_the_same_salt_and_one_that_looks_like_others() -> None:
    first, again = (ScramSecret.of_nobody("SCRAM-SHA-256", "ben", b"key") for _ in range(2))
    assert first == again
    assert first.iterations == 4096
    assert first.salt != ScramSecret.of_nobody("SCRAM-SHA-256", "ben", b"other").salt
    assert first.salt != ScramSecret.of_nobody("SCRAM-SHA-256", "eve", b"key").salt
    drawn = salt_of(2**129 + 7)
    assert abs(len(first.salt) - len(drawn)) <= 2
    assert first.salt.isalnum()
    assert drawn.isalnum()
    assert salt_of(2**130 + 7) == salt_of(7) == b"7"


def test_strangers_have_the_iterations_that_users_have_in_the_same_proportion() -> None:
    """Else a salt with 4096 would say that there is no such user, where all others have 8192."""

    def drawn(number: int, usual: dict[int, int]) -> int:
        return ScramSecret.of_nobody("SCRAM-SHA-256", f"user {number}", b"key", usual).iterations

    usual = {8192: 3, 4096: 1}
    many = [drawn(number, usual) for number in range(1_000)]
    assert set(many) == {4096, 8192}
    assert 200 <= many.count(4096) <= 300
    # One user more changes what is said of hardly anybody.
    after = [drawn(number, {8192: 300, 4096: 101}) for number in range(1_000)]
    assert sum(one != other for one, other in zip(many, after, strict=True)) < 10
    assert {drawn(number, {16_384: 7}) for number in range(10)} == {16_384}


def test_a_secret_is_kept_as_kafka_keeps_it() -> None:
    known = secret("SCRAM-SHA-256", "sesam")
    text = known.to_text()
    assert text.startswith("salt=c2FsdHNhbHRzYWx0c2FsdA==,stored_key=")
    assert text.endswith(",iterations=4096")
    assert ScramSecret.parse(text) == known
    for wrong in ("", "salt=?", text.replace("4096", "many"), text.replace("server_key", "x")):
        with pytest.raises(ValueError, match="not a SCRAM credential"):
            ScramSecret.parse(wrong)
    assert "salt" not in repr(known)


def test_a_stored_secret_with_too_few_iterations_lets_nobody_in() -> None:
    server = server_of("SCRAM-SHA-256", 4096)
    weak = secret("SCRAM-SHA-256", "sesam", 1000)
    client = ScramClient("SCRAM-SHA-256", "a,=n", "sesam", "client")
    server.machine.read_claim(client.begin())
    server.machine.challenge(weak)
    forged = proof_of("a,=n", "sesam", 1000, "n,,")
    with pytest.raises(SaslAuthenticationFailed, match="wrong user or password"):
        server.machine.verify(forged)


def proof_of(
    user: str, password: str, iterations: int, header: str, nonce: str = "clientserver"
) -> bytes:
    """The final message of a client that does not care for rules."""
    name = user.replace("=", "=3D").replace(",", "=2C")
    salted = salted_password("SCRAM-SHA-256", password, salt=SALT, iterations=iterations)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    stored_key = hashlib.sha256(client_key).digest()
    binding = base64.b64encode(header.encode()).decode()
    final = f"c={binding},r={nonce}"
    first = f"r=clientserver,s={base64.b64encode(SALT).decode()},i={iterations}"
    message = f"n={name},r=client,{first},{final}".encode()
    signature = hmac.digest(stored_key, message, "sha256")
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    return f"{final},p={base64.b64encode(proof).decode()}".encode()


@pytest.mark.parametrize(
    ("first", "header"),
    [
        (b"n,,n=a=2C=3Dn,r=client", "n,,"),
        (b"y,,n=a=2C=3Dn,r=client", "y,,"),
        (b"n,a=a=2C=3Dn,n=a=2C=3Dn,r=client", "n,a=a=2C=3Dn,"),
    ],
)
def test_the_binding_must_be_that_of_the_first_message(first: bytes, header: str) -> None:
    for sent in ("n,,", "y,,", "n,a=a=2C=3Dn,"):
        server = server_of("SCRAM-SHA-256")
        server.challenge(first)
        final = proof_of("a,=n", "sesam", 4096, sent)
        if sent == header:
            assert server.machine.verify(final).startswith(b"v=")
        else:
            with pytest.raises(SaslAuthenticationFailed, match="binding"):
                server.machine.verify(final)


@pytest.mark.parametrize("first", [b"n,a=eve,n=a=2C=3Dn,r=client", b"n,a=a=2C=3Dn,n=eve,r=client"])
def test_cve_2017_12610_nobody_acts_for_another_user(first: bytes) -> None:
    with pytest.raises(SaslAuthenticationFailed, match="may not act for another"):
        server_of("SCRAM-SHA-256").challenge(first)


@pytest.mark.parametrize("nonce", ["server", "xclientserver", "clientserverx", "client", ""])
def test_cve_2024_56128_the_nonce_must_be_the_whole_one(nonce: str) -> None:
    server = server_of("SCRAM-SHA-256")
    server.challenge(b"n,,n=a=2C=3Dn,r=client")
    with pytest.raises(SaslAuthenticationFailed, match="nonce"):
        server.machine.verify(proof_of("a,=n", "sesam", 4096, "n,,", nonce))


def test_cve_2024_56128_a_final_message_cannot_be_used_again() -> None:
    client = ScramClient("SCRAM-SHA-256", "a,=n", "sesam", "client")
    first = server_of("SCRAM-SHA-256")
    final = client.answer(first.challenge(client.begin()))
    assert final is not None
    first.machine.verify(final)
    again = ScramServer("SCRAM-SHA-256", "another")
    again.read_claim(client.begin())
    again.challenge(first.known)
    with pytest.raises(SaslAuthenticationFailed, match="nonce"):
        again.verify(final)


def test_unknown_extensions_in_any_order_are_part_of_what_is_signed() -> None:
    server = server_of("SCRAM-SHA-256")
    server.challenge(b"n,,n=a=2C=3Dn,r=client,z=1,b=2,tokenauth=true")
    assert server.machine.claim == ("a,=n", True)


@pytest.mark.parametrize(
    ("challenge", "reason"),
    [
        (b"e=other-error", "other-error"),
        (b"r=stranger,s=c2FsdA==,i=4096", "nonce"),
        (b"r=client,s=c2FsdA==,i=4096", "nonce"),
        (b"r=clientserver,s=c2FsdA==,i=10", "10 iterations"),
        (b"r=clientserver,s=c2FsdA==,i=1000001", "would take too long"),
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


def test_cve_2026_10143_a_broker_cannot_have_a_client_compute_for_hours() -> None:
    client = ScramClient("SCRAM-SHA-512", "anna", "sesam", "client")
    with pytest.raises(SaslAuthenticationFailed, match="too long"):
        client.answer(b"r=clientserver,s=c2FsdA==,i=2147483647")


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (b"p=tls-unique,,n=a,r=b", "binds no channel"),
        (b"n,,", "binds no channel"),
        (b"", "binds no channel"),
        (b"n,,n=a,r=", "binds no channel"),
        (b"n,,r=b,n=a", "binds no channel"),
        (b"n,,m=x,n=a,r=b", "binds no channel"),
        (b"n,,n=,r=b", "for another"),
        (b"n,a=ben,n=anna,r=b", "for another"),
        (b"n,,n=a=b,r=b", "=3D"),
        (b"\xff", "is text"),
    ],
)
def test_a_strange_beginning_is_refused(token: bytes, reason: str) -> None:
    with pytest.raises(SaslAuthenticationFailed, match=reason):
        server_of("SCRAM-SHA-256").challenge(token)


@pytest.mark.parametrize(
    "proof",
    [
        b"c=biws,r=other,p=AAAA",
        b"c=biws,r=clientserver,p=AAAA",
        b"c=biws,r=clientserver,p=?",
        b"c=biws,r=clientserver",
        b"",
    ],
)
def test_a_strange_proof_is_refused(proof: bytes) -> None:
    server = server_of("SCRAM-SHA-256")
    server.challenge(ScramClient("SCRAM-SHA-256", "a,=n", "sesam", "client").begin())
    with pytest.raises(SaslAuthenticationFailed):
        server.machine.verify(proof)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_no_bytes_get_anybody_in(first: bytes, final: bytes) -> None:
    server = server_of("SCRAM-SHA-256")
    with pytest.raises(SaslAuthenticationFailed):
        server.challenge(first)
    server = server_of("SCRAM-SHA-256")
    server.challenge(b"n,,n=a=2C=3Dn,r=client")
    with pytest.raises(SaslAuthenticationFailed):
        server.machine.verify(final)


def test_a_number_without_end_is_refused_before_it_is_read() -> None:
    """Python raises another error for thousands of digits, and takes long for fewer."""
    client = ScramClient("SCRAM-SHA-256", "anna", "sesam", "client")
    with pytest.raises(SaslAuthenticationFailed, match="i of a SCRAM message is not a number"):
        client.answer(b"r=clientserver,s=c2FsdA==,i=" + b"4" * 10_000)
    with pytest.raises(SaslAuthenticationFailed, match="i of a SCRAM message is not a number"):
        client.answer(b"r=clientserver,s=c2FsdA==,i=" + b"4" * 19)
