"""SaslHandshake (key 17): agree on a SASL mechanism.

After version 0 the tokens travel as bare frames, after version 1 in SaslAuthenticate.
"""

from moldau.protocol.declaration import message
from moldau.protocol.primitives import Int16


@message(api_key=17, versions=range(0, 2), flexible_from=None)
class SaslHandshakeRequest:
    mechanism: str


@message(api_key=17, versions=range(0, 2), flexible_from=None)
class SaslHandshakeResponse:
    error_code: Int16
    mechanisms: list[str]
