"""Passwords in the tree, in Kafka's form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import InvalidConfig
from moldau.security.password_encoder import GCM, PasswordEncoder

ENCODER = PasswordEncoder(secret="of the cluster", iterations=1024)


@given(st.text(max_size=40))
def test_a_password_comes_back(password: str) -> None:
    for encoder in (ENCODER, PasswordEncoder(secret="s", cipher=GCM, iterations=1024)):
        assert encoder.decode(encoder.encode(password)) == password


def test_the_parts_are_kafkas_and_may_come_in_any_order() -> None:
    text = ENCODER.encode("sesam")
    parts = dict(part.split(":") for part in text.split(","))
    assert {
        name: parts[name] for name in parts if name[0] not in "ies" or name == "iterations"
    } == {
        "keyFactoryAlgorithm": "PBKDF2WithHmacSHA512",
        "keyLength": "128",
        "iterations": "1024",
        "cipherAlgorithm": "AES/CBC/PKCS5Padding",
        "passwordLength": "5",
    }
    assert ENCODER.decode(",".join(reversed(text.split(",")))) == "sesam"


@pytest.mark.parametrize("cipher", ["AES/CBC/PKCS5Padding", GCM])
def test_another_secret_does_not_open_it(cipher: str) -> None:
    text = PasswordEncoder(secret="a", cipher=cipher, iterations=1024).encode("sesam")
    with pytest.raises(ValueError, match=r".+"):
        PasswordEncoder(secret="b", cipher=cipher, iterations=1024).decode(text)


@pytest.mark.parametrize(
    "change", ["salt:!", "iterations:99999999", "keyLength:7", "iterations:0", "cipherAlgorithm:x"]
)
def test_rubbish_is_a_value_error(change: str) -> None:
    name = change.partition(":")[0]
    kept = [part for part in ENCODER.encode("x").split(",") if not part.startswith(f"{name}:")]
    for text in (",".join(kept), ",".join([*kept, change]), "", "x" * 100_000):
        with pytest.raises(ValueError, match=r".+"):
            ENCODER.decode(text)


@pytest.mark.parametrize(
    "wrong", [{"cipher": "DES/CBC/PKCS5Padding"}, {"key_factory": "PBKDF1"}, {"key_bits": 64}]
)
def test_what_is_not_known_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidConfig, match=r"password\.encoder"):
        PasswordEncoder(secret="s", **wrong)  # type: ignore[arg-type]
    assert "of the cluster" not in repr(ENCODER)
