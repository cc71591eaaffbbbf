"""Key stores: PEM, PKCS#12, and what to do about JCEKS; for JKS see test_java_key_store."""

import sys
from pathlib import Path

import pytest

from certificates import authority, identity
from moldau.errors import InvalidConfig
from moldau.security.key_stores import read_key_store

CA = authority()
ANNA = identity(CA, "anna")


def test_a_pem_file_is_taken_as_it_is(tmp_path: Path) -> None:
    store = read_key_store(ANNA.write(tmp_path / "anna.pem"), password="p")
    assert store.key_and_chain == ANNA.key_pem() + ANNA.certificate_pem
    assert store.key_password == "p"
    assert "PRIVATE" not in repr(store)


def test_certificates_without_a_key_are_for_trusting(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_text(CA.certificate_pem)
    store = read_key_store(str(path))
    assert store.key_and_chain == ""
    assert store.certificates == CA.certificate_pem


def test_pkcs12_becomes_pem(tmp_path: Path) -> None:
    path = ANNA.write_pkcs12(tmp_path / "anna.p12", "sesam")
    store = read_key_store(path, kind="jks", password="sesam")
    assert store.key_and_chain == ANNA.key_pem() + ANNA.certificate_pem
    with pytest.raises(InvalidConfig, match=r"anna\.p12 cannot be opened"):
        read_key_store(path, password="wrong")


def test_pkcs12_needs_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ANNA.write_pkcs12(tmp_path / "anna.p12", "sesam")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    with pytest.raises(InvalidConfig, match=r"pip install 'moldau\[tls\]'"):
        read_key_store(path, password="sesam")


def test_a_format_that_is_not_read_gets_the_command_that_converts_it(tmp_path: Path) -> None:
    path = tmp_path / "anna.jks"
    path.write_bytes(bytes.fromhex("cececece") + b"...")
    command = rf"keytool -importkeystore -srckeystore {path} -destkeystore {tmp_path}/anna\.p12"
    with pytest.raises(InvalidConfig, match=f"{command} -deststoretype PKCS12"):
        read_key_store(str(path))


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"?", "neither PEM nor"), (b"-----BEGIN \xff", "is not PEM"), (None, "No such file")],
)
def test_anything_else_is_refused(tmp_path: Path, data: bytes | None, reason: str) -> None:
    path = tmp_path / "store"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InvalidConfig, match=reason):
        read_key_store(str(path))


def test_a_type_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="BCFKS"):
        read_key_store(ANNA.write(tmp_path / "anna.pem"), kind="BCFKS")
