"""What a certificate says beside its owner: when it is valid, and for which hosts."""

import datetime as dt
import ipaddress
from dataclasses import dataclass

from moldau.security.der import DerValue, read_value
from moldau.security.distinguished_names import (
    alternative_names,
    certificate_fields,
    subject_name,
)

_VALIDITY_INDEX = 3  # serial number, algorithm, issuer
_UTC_TIME = 0x17
_GENERALIZED_TIME = 0x18
_CENTURY = 50  # a year of two digits is one of the last century from here on (RFC 5280)
_DNS_NAME = 0x82
_ADDRESS = 0x87


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """Whom a certificate is of, from when and until when, and by which names it is reached."""

    owner: str
    valid_from: dt.datetime
    valid_until: dt.datetime
    hosts: tuple[str, ...]


def read_certificate(der: bytes) -> CertificateFacts:
    """From a certificate in DER; ValueError if it cannot be read."""
    times = certificate_fields(der)[_VALIDITY_INDEX].values()
    if len(times) != 2:
        raise ValueError("a validity is two times")
    names = (read_value(each) for each in sorted(alternative_names(der)))
    hosts = tuple(_host(each) for each in names if each.tag in (_DNS_NAME, _ADDRESS))
    return CertificateFacts(subject_name(der), _time(times[0]), _time(times[1]), hosts)


def _host(name: DerValue) -> str:
    if name.tag == _ADDRESS:
        return str(ipaddress.ip_address(name.contents))
    return name.contents.decode("ascii", "replace")


def _time(value: DerValue) -> dt.datetime:
    text = value.contents.decode("ascii", "replace")
    if value.tag == _UTC_TIME:
        text = f"{'20' if text[:2] < str(_CENTURY) else '19'}{text}"
    elif value.tag != _GENERALIZED_TIME:
        raise ValueError("not a time")
    return dt.datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=dt.UTC)
