"""Why a handshake failed, in words."""

import ssl

from moldau.net.tls_side import reason_of


def test_a_reason_is_in_words_and_without_places_in_a_source() -> None:
    error = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)")
    error.reason = "WRONG_VERSION_NUMBER"
    assert reason_of(error) == "wrong version number"


def test_what_is_wrong_with_a_certificate_is_said() -> None:
    error = ssl.SSLCertVerificationError()
    error.verify_message = "certificate has expired"
    assert reason_of(error) == "certificate verify failed: certificate has expired"
