"""JKS, as keytool of Java 17 writes it."""

import base64
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_der_private_key
from cryptography.x509 import load_der_x509_certificate
from hypothesis import given
from hypothesis import strategies as st

from moldau.errors import InvalidConfig
from moldau.security.java_key_store import JavaKeyStore, read_jks, unlock_key
from moldau.security.key_stores import read_key_store

KEY_STORE = base64.b64decode("""
/u3+7QAAAAIAAAABAAAAAQAGYnJva2VyAAABoexAkLoAAAB/MH0wDgYKKwYBBAEqAhEBAQUABGu8sMzLKIzF6DYsx3Jz
50KaTZ+LH4+iAeJOeSVePjyMlLdZyIzoCgZqqFF66FPsGglWWSgfclBITQnvSxlu+h2YCfhsIyOS4WGxjnvC9xS2TlBR
W6r/0JxdNRgWG4s6Fa+sPyrCPJkbKCRMcAAAAAEABVguNTA5AAABYjCCAV4wggEEoAMCAQICCQDOkNfr46UygDAKBggq
hkjOPQQDAjAiMQ8wDQYDVQQKEwZNb2xkYXUxDzANBgNVBAMTBmJyb2tlcjAgFw0yNjExMTgwMTIzMzZaGA8yMTI2MTAy
NTAxMjMzNlowIjEPMA0GA1UEChMGTW9sZGF1MQ8wDQYDVQQDEwZicm9rZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAQyOUCU6KsePQQyvoZMtjyYZF2+PhmaVprdccKckS6zyrixVRYbtcnHOqHVkZa4SRGUdkzSoriGTsvpdz3dxFdhoyEw
HzAdBgNVHQ4EFgQU3A9lf4oeWv5Fzpkt9knU7saMauMwCgYIKoZIzj0EAwIDSAAwRQIhAKFtPGtBeBM1OiVy43RAl0AH
RQABX57ugVsF/Te1qofAAiAk+oCGBfCPQ9qtiY/v4P2xGz1KHFcJ/IE6SJJrE82VprMAnQn2ApG3dARUY6PCs9+5uIVp
""")
TRUST_STORE = base64.b64decode("""
/u3+7QAAAAIAAAABAAAAAgACY2EAAAGh7ECT6AAFWC41MDkAAAFiMIIBXjCCAQSgAwIBAgIJAM6Q1+vjpTKAMAoGCCqG
SM49BAMCMCIxDzANBgNVBAoTBk1vbGRhdTEPMA0GA1UEAxMGYnJva2VyMCAXDTI2MTExODAxMjMzNloYDzIxMjYxMDI1
MDEyMzM2WjAiMQ8wDQYDVQQKEwZNb2xkYXUxDzANBgNVBAMTBmJyb2tlcjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
BDI5QJToqx49BDK+hky2PJhkXb4+GZpWmt1xwpyRLrPKuLFVFhu1ycc6odWRlrhJEZR2TNKiuIZOy+l3Pd3EV2GjITAf
MB0GA1UdDgQWBBTcD2V/ih5a/kXOmS32SdTuxoxq4zAKBggqhkjOPQQDAgNIADBFAiEAoW08a0F4EzU6JXLjdECXQAdF
AAFfnu6BWwX9N7Wqh8ACICT6gIYF8I9D2q2Jj+/g/bEbPUocVwn8gTpIkmsTzZWmLVkR5Uhj3VkV9V4sA+HkYJ8PJCA=
""")
STORE_PASSWORD, KEY_PASSWORD = "storepass", "keypass1"


def test_a_key_and_its_certificate_are_found() -> None:
    (key,) = read_jks(KEY_STORE, STORE_PASSWORD).keys
    assert key.alias == "broker"
    private = load_der_private_key(unlock_key(key, KEY_PASSWORD), None)
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    certificate = load_der_x509_certificate(key.chain[0])
    assert certificate.public_key() == private.public_key()


def test_trusted_certificates_are_read_with_and_without_a_password() -> None:
    with_password = read_jks(TRUST_STORE, STORE_PASSWORD)
    assert with_password == read_jks(TRUST_STORE, "")
    assert with_password == JavaKeyStore([], read_jks(KEY_STORE, "").keys[0].chain)


def test_wrong_passwords_are_told_apart() -> None:
    with pytest.raises(ValueError, match="its password is another"):
        read_jks(KEY_STORE, "wrong")
    (key,) = read_jks(KEY_STORE, STORE_PASSWORD).keys
    with pytest.raises(ValueError, match="password of the key broker"):
        unlock_key(key, "wrong")


@given(st.integers(4, len(KEY_STORE) - 1), st.integers(0, 255))
def test_a_damaged_store_is_a_value_error(place: int, byte: int) -> None:
    data = bytearray(KEY_STORE)
    data[place] = byte
    try:
        for key in read_jks(bytes(data), "").keys:
            unlock_key(key, KEY_PASSWORD)
    except ValueError:
        pass


def test_a_cut_store_is_a_value_error() -> None:
    for size in range(4, len(KEY_STORE) - 20):
        with pytest.raises(ValueError, match=r".+"):
            read_jks(KEY_STORE[:size] + bytes(20), "")


def test_a_jks_file_is_a_key_store_whatever_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "broker.p12"
    path.write_bytes(KEY_STORE)
    store = read_key_store(
        str(path), kind="PKCS12", password=STORE_PASSWORD, key_password=KEY_PASSWORD
    )
    assert store.key_and_chain.startswith("-----BEGIN PRIVATE KEY-----\n")
    assert store.alias == "broker"
    assert store.own_certificate == read_jks(KEY_STORE, "").keys[0].chain[0]
    trusted = read_key_store(str(path), password=STORE_PASSWORD, key_password=None)
    assert trusted.key_and_chain == ""
    assert trusted.certificates == store.certificates
    with pytest.raises(InvalidConfig, match=r"broker\.p12 cannot be opened: the password of the"):
        read_key_store(str(path), password=STORE_PASSWORD)
