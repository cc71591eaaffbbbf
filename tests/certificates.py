"""Certificates for tests: an authority, and whoever it vouches for."""

import datetime as dt
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Identity:
    """A key and its certificate."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def certificate_pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def key_pem(self, password: str = "") -> str:
        protection = BestAvailableEncryption(password.encode()) if password else NoEncryption()
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, protection).decode()

    def write(self, path: Path, password: str = "") -> str:
        """Key and certificate as one PEM file."""
        path.write_text(self.key_pem(password) + self.certificate_pem)
        return str(path)

    def write_pkcs12(self, path: Path, password: str) -> str:
        protection = BestAvailableEncryption(password.encode())
        data = pkcs12.serialize_key_and_certificates(
            b"me", self.key, self.certificate, None, protection
        )
        path.write_bytes(data)
        return str(path)

    def server_context(self, path: Path) -> ssl.SSLContext:
        """What a server of this identity needs."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.write(path))
        return context


def authority() -> Identity:
    """Whom tests trust."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("Moldau tests")
    constraints = x509.BasicConstraints(ca=True, path_length=None)
    builder = _builder(name, name, key).add_extension(constraints, critical=True)
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    return Identity(key, builder.add_extension(usage, critical=True).sign(key, hashes.SHA256()))


def identity(
    issuer: Identity, name: str | x509.Name, host: str = "127.0.0.1", *, days: int = 1
) -> Identity:
    """Somebody at this address, whose certificate is good for so many days."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _name(name) if isinstance(name, str) else name
    builder = _builder(subject, issuer.certificate.subject, key, days)
    address = x509.IPAddress(ipaddress.ip_address(host))
    alternatives = x509.SubjectAlternativeName([address, x509.DNSName("localhost")])
    builder = builder.add_extension(alternatives, critical=False)
    return Identity(key, builder.sign(issuer.key, hashes.SHA256()))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int = 1
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 2 * _DAY)
        .not_valid_after(now + days * _DAY)
    )
