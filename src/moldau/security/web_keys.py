"""Keys that verify tokens (JWK, RFC 7517), by way of `cryptography`.

Only signatures that need a private key are taken, and a key only for the algorithms of its own
kind: a public key must never be used as the secret of an HMAC.
"""

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from moldau.config.values import config_error
from moldau.security.oauthbearer import TokenRefused
from moldau.security.web_tokens import WebToken

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    PublicKey = RSAPublicKey | EllipticCurvePublicKey

ALGORITHMS = tuple(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512))
_CURVES = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1"}
_CURVE_NAMES = ("P-256", "P-384", "P-521")
_RSA_BITS_MIN = 2048
_KEYS_MAX = 1000


class WebKey:
    """One public key."""

    def __init__(self, key: "PublicKey", algorithm: str | None) -> None:
        self._key = key
        self._algorithm = algorithm

    def verify(self, token: WebToken) -> None:
        """Raise TokenRefused unless the key signed it."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - seldom

        algorithm = token.header.get("alg")
        if algorithm not in ALGORITHMS or self._algorithm not in (None, algorithm):
            raise TokenRefused("its algorithm is not that of the key")
        try:
            _verify(self._key, str(algorithm), token)
        except InvalidSignature:
            raise TokenRefused("its signature is wrong") from None


def require_cryptography(setting: str) -> None:
    """Raise InvalidConfig unless signatures can be verified."""
    try:
        import cryptography  # noqa: F401, PLC0415 - only where it is needed
    except ImportError as error:
        reason = "needs the package cryptography: pip install 'moldau[tls]'"
        raise config_error(f"{setting}: {reason}") from error


def read_keys(data: bytes) -> dict[str, WebKey]:
    """The keys of a set by their ids; ValueError if it is none. What cannot be used is left out."""
    try:
        keys = json.loads(data)["keys"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("not a set of keys (JWKS)") from None
    if not isinstance(keys, list) or len(keys) > _KEYS_MAX:
        raise ValueError("not a set of keys (JWKS)")
    found = {}
    for one in keys:
        key = _read_key(one) if isinstance(one, dict) else None
        if key is not None:
            found[one["kid"]] = key
    return found


def _read_key(one: Mapping[str, Any]) -> WebKey | None:
    if not isinstance(one.get("kid"), str) or one.get("use", "sig") != "sig":
        return None
    try:
        key = _public_key(one)
    except (KeyError, TypeError, ValueError):
        return None
    return None if key is None else WebKey(key, one.get("alg"))


def _public_key(one: Mapping[str, Any]) -> "PublicKey | None":
    from cryptography.hazmat.primitives.asymmetric import ec, rsa  # noqa: PLC0415 - seldom

    if one["kty"] == "RSA":
        key = rsa.RSAPublicNumbers(_number(one["e"]), _number(one["n"])).public_key()
        return key if key.key_size >= _RSA_BITS_MIN else None
    if one["kty"] == "EC" and one["crv"] in _CURVE_NAMES:
        curves = {"P-256": ec.SECP256R1(), "P-384": ec.SECP384R1(), "P-521": ec.SECP521R1()}
        x, y = _number(one["x"]), _number(one["y"])
        return ec.EllipticCurvePublicNumbers(x, y, curves[one["crv"]]).public_key()
    return None


def _verify(key: "PublicKey", algorithm: str, token: WebToken) -> None:
    from cryptography.hazmat.primitives import hashes  # noqa: PLC0415 - seldom
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.utils import (  # noqa: PLC0415
        encode_dss_signature,
    )

    kinds = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}
    chosen = kinds[algorithm[2:]]
    if algorithm in _CURVES:
        if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name != _CURVES[algorithm]:
            raise TokenRefused("its algorithm is not that of the key")
        half = (key.curve.key_size + 7) // 8
        if len(token.signature) != 2 * half:
            raise TokenRefused("its signature is wrong")
        r, s = token.signature[:half], token.signature[half:]
        signature = encode_dss_signature(int.from_bytes(r), int.from_bytes(s))
        key.verify(signature, token.signed, ec.ECDSA(chosen))
        return
    if not isinstance(key, rsa.RSAPublicKey):
        raise TokenRefused("its algorithm is not that of the key")
    if algorithm.startswith("PS"):
        salt_length = chosen.digest_size
        pss = padding.PSS(mgf=padding.MGF1(chosen), salt_length=salt_length)
        key.verify(token.signature, token.signed, pss, chosen)
    else:
        key.verify(token.signature, token.signed, padding.PKCS1v15(), chosen)


def _number(text: str) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
