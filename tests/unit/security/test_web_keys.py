"""Keys that verify tokens."""

import builtins
import hashlib
import hmac
import json
from typing import Any

import pytest

from moldau.errors import InvalidConfig
from moldau.security.oauthbearer import TokenRefused
from moldau.security.web_keys import ALGORITHMS, read_keys, require_cryptography
from moldau.security.web_tokens import read_token
from unit.security.web_signing import EcIssuer, Issuer, RsaIssuer, keys_of, text_of, token_of

RSA = RsaIssuer()
CLAIMS = {"sub": "anna"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_verifies_what_its_key_signed_and_nothing_else(algorithm: str) -> None:
    issuer: Issuer = EcIssuer(algorithm) if algorithm.startswith("ES") else RSA
    key = read_keys(keys_of(issuer))[issuer.kid]
    token = token_of(issuer, CLAIMS, algorithm)
    key.verify(read_token(token))
    head, _, signature = token.split(".")
    forged = ".".join([head, text_of(b'{"sub":"admin"}'), signature])
    with pytest.raises(TokenRefused):
        key.verify(read_token(forged))
    with pytest.raises(TokenRefused):
        key.verify(read_token(token[:-8]))


def test_a_key_is_used_for_algorithms_of_its_own_kind_alone() -> None:
    ec = EcIssuer()
    rsa_key, ec_key = read_keys(keys_of(RSA)), read_keys(keys_of(ec))
    for key, token in (
        (rsa_key["rsa"], token_of(ec, CLAIMS, "ES256")),
        (ec_key["ec"], token_of(RSA, CLAIMS, "RS256")),
        (ec_key["ec"], token_of(EcIssuer("ES384"), CLAIMS, "ES384")),
    ):
        with pytest.raises(TokenRefused, match="algorithm"):
            key.verify(read_token(token))


@pytest.mark.parametrize("algorithm", ["none", "HS256", "None", "", None, 5])
def test_a_public_key_is_never_a_secret_and_no_signature_none(algorithm: object) -> None:
    key = read_keys(keys_of(RSA))["rsa"]
    signed = ".".join(
        text_of(json.dumps(part).encode()) for part in ({"alg": algorithm, "kid": "rsa"}, CLAIMS)
    )
    public = json.dumps(RSA.jwk()).encode()
    for signature in (b"", hmac.new(public, signed.encode(), hashlib.sha256).digest()):
        with pytest.raises(TokenRefused, match="algorithm"):
            key.verify(read_token(f"{signed}.{text_of(signature)}"))


def test_a_key_says_what_it_is_for() -> None:
    for more in ({"use": "enc"}, {"kty": "oct"}, {"kid": 5}, {"n": "??"}):
        assert read_keys(json.dumps({"keys": [{**RSA.jwk(), **more}]}).encode()) == {}
    key = read_keys(json.dumps({"keys": [RSA.jwk(alg="RS512", use="sig"), 7]}).encode())["rsa"]
    key.verify(read_token(token_of(RSA, CLAIMS, "RS512")))
    with pytest.raises(TokenRefused):
        key.verify(read_token(token_of(RSA, CLAIMS, "RS256")))


def test_a_weak_key_is_left_out() -> None:
    assert read_keys(keys_of(RsaIssuer(bits=1024))) == {}


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"keys":5}', b"\xff", b"[" * 100_000])
def test_what_is_no_set_of_keys_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a set of keys"):
        read_keys(data)


def test_without_the_package_the_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    require_cryptography("x")
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == "cryptography":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(InvalidConfig, match=r"jwks\.url: needs the package cryptography"):
        require_cryptography("jwks.url")
