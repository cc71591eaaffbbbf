"""An identity provider of tests: keys, and tokens that they sign."""

import base64
import json
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

_HASHES = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}
CURVES = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}


def text_of(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def number_text(number: int) -> str:
    return text_of(number.to_bytes((number.bit_length() + 7) // 8, "big"))


class RsaIssuer:
    """Signs by RSA."""

    def __init__(self, kid: str = "rsa", bits: int = 2048) -> None:
        self.kid = kid
        self.key = rsa.generate_private_key(65537, bits)

    def jwk(self, **more: str) -> dict[str, str]:
        numbers = self.key.public_key().public_numbers()
        own = {"n": number_text(numbers.n), "e": number_text(numbers.e)}
        return {"kty": "RSA", "kid": self.kid, **own, **more}

    def sign(self, algorithm: str, data: bytes) -> bytes:
        chosen = _HASHES[algorithm[2:]]
        pads: Any = padding.PKCS1v15()
        if algorithm.startswith("PS"):
            pads = padding.PSS(mgf=padding.MGF1(chosen), salt_length=chosen.digest_size)
        return self.key.sign(data, pads, chosen)


class EcIssuer:
    """Signs by elliptic curves."""

    def __init__(self, algorithm: str = "ES256", kid: str = "ec") -> None:
        self.kid = kid
        self.key = ec.generate_private_key(CURVES[algorithm])
        self.curve = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}[algorithm]

    def jwk(self, **more: str) -> dict[str, str]:
        numbers = self.key.public_key().public_numbers()
        own = {"crv": self.curve, "x": number_text(numbers.x), "y": number_text(numbers.y)}
        return {"kty": "EC", "kid": self.kid, **own, **more}

    def sign(self, algorithm: str, data: bytes) -> bytes:
        half = (self.key.curve.key_size + 7) // 8
        numbers = decode_dss_signature(self.key.sign(data, ec.ECDSA(_HASHES[algorithm[2:]])))
        return b"".join(number.to_bytes(half, "big") for number in numbers)


Issuer = RsaIssuer | EcIssuer


def token_of(issuer: Issuer, claims: object, algorithm: str = "RS256", **header: object) -> str:
    head = {"alg": algorithm, "kid": issuer.kid, **header}
    signed = ".".join(text_of(json.dumps(part).encode()) for part in (head, claims))
    return f"{signed}.{text_of(issuer.sign(algorithm, signed.encode()))}"


def keys_of(*issuers: Issuer) -> bytes:
    return json.dumps({"keys": [one.jwk() for one in issuers]}).encode()
