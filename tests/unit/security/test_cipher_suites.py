"""Cipher suites: OpenSSL says itself what IANA calls those of the table."""

import shutil
import subprocess

import pytest

from moldau.security.cipher_suites import TLS_1_2, TLS_1_3


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_the_names_are_those_that_openssl_gives() -> None:
    listing = subprocess.run(
        ["openssl", "ciphers", "-stdname", "ALL:@SECLEVEL=0"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    known = {line.split()[0]: line.split()[2] for line in listing.splitlines()}
    for iana, name in (TLS_1_2 | dict(zip(TLS_1_3, TLS_1_3, strict=True))).items():
        assert known.get(iana, name) == name
    assert sum(iana in known for iana in TLS_1_2) > len(TLS_1_2) / 2
