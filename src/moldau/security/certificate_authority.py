"""An authority of one's own that certifies brokers and clients; needs `cryptography`.

For TLS between one's own machines. Keys are ECDSA on P-256: a handshake costs little more than
half of what it costs with RSA.
"""

import datetime as dt
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_CLOCKS_DIFFER = dt.timedelta(minutes=5)
_NAME_MAX = 64  # of X.520


@dataclass(frozen=True, slots=True)
class Certified:
    """A private key with its certificate, as PEM."""

    key: str = field(repr=False)
    certificate: str


class CertificateAuthority:
    """Certifies others; clients that trust its certificate trust them."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self._key = key
        self._certificate = certificate

    @classmethod
    def create(cls, name: str, *, now: dt.datetime, days: int) -> "CertificateAuthority":
        """A new authority."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _name(name)
        builder = (
            _builder(subject, key, now, now + dt.timedelta(days=days))
            .issuer_name(subject)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(is_authority=True), critical=True)
        )
        return cls(key, builder.sign(key, hashes.SHA256()))

    @classmethod
    def load(cls, own: Certified) -> "CertificateAuthority":
        """One that was created before; ValueError if key and certificate are not its own."""
        key = load_pem_private_key(own.key.encode(), password=None)
        certificate = x509.load_pem_x509_certificate(own.certificate.encode())
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("the key is not one of ECDSA")  # noqa: TRY004 - a file says so
        if key.public_key() != certificate.public_key():
            raise ValueError("the key and the certificate do not belong together")
        return cls(key, certificate)

    @property
    def own(self) -> Certified:
        return _certified(self._key, self._certificate)

    @property
    def valid_until(self) -> dt.datetime:
        """When it, and with it all that it has certified, is no longer trusted."""
        return self._certificate.not_valid_after_utc

    def certify(
        self, name: str, hosts: Sequence[str] = (), *, now: dt.datetime, days: int
    ) -> Certified:
        """A new key for a client, or for a broker at these hosts; never beyond its own end."""
        key = ec.generate_private_key(ec.SECP256R1())
        end = min(now + dt.timedelta(days=days), self.valid_until)
        builder = _builder(_name(name), key, now, end).issuer_name(self._certificate.subject)
        # A broker is a client of others.
        uses = [ExtendedKeyUsageOID.SERVER_AUTH] if hosts else []
        builder = (
            builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(is_authority=False), critical=True)
            .add_extension(
                x509.ExtendedKeyUsage([*uses, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
            )
        )
        if hosts:
            names = x509.SubjectAlternativeName([_host(each) for each in hosts])
            builder = builder.add_extension(names, critical=False)
        return _certified(key, builder.sign(self._key, hashes.SHA256()))


def _certified(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> Certified:
    return Certified(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        certificate.public_bytes(Encoding.PEM).decode(),
    )


def _builder(
    subject: x509.Name, key: ec.EllipticCurvePrivateKey, now: dt.datetime, end: dt.datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCKS_DIFFER)
        .not_valid_after(end)
    )


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    if not 1 <= len(text) <= _NAME_MAX:
        raise ValueError(f"a name has 1 to {_NAME_MAX} characters, not {len(text)}: {text}")
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)
