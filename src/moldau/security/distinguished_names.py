"""Names of certificates as Java writes them: access rules compare them to the letter.

`X500Principal.getName()` is RFC 2253 with manners of its own. The last part comes first, without
blanks between; types other than nine are numbers, and their values the DER in hexadecimal
digits; `=` and `#` are escaped wherever they stand, and a NUL is `\\00`.
"""

from moldau.security.der import SEQUENCE, SET, DerValue, object_id, read_value

_KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
# UTF8String, PrintableString, T61String, IA5String, GeneralString, BMPString: Java takes the
# bytes of all of them for UTF-8, also where they are not.
_TEXT_TAGS = frozenset((0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E))
_ESCAPED = frozenset(',=+<>#;"\\')
_BLANKS = " \r"
_EXTENSIONS_TAG = 0xA3
_VERSION_TAG = 0xA0
_SUBJECT_INDEX = 4  # serial number, algorithm, issuer, validity
_ALTERNATIVE_NAMES = "2.5.29.17"


def subject_name(certificate: bytes) -> str:
    """Whom a certificate, given in DER, is of; ValueError if it cannot be read."""
    fields = certificate_fields(certificate)
    return distinguished_name(fields[_SUBJECT_INDEX])


def alternative_names(certificate: bytes) -> frozenset[bytes]:
    """The other names of a certificate, each in DER; ValueError if it cannot be read."""
    for field in certificate_fields(certificate):
        if field.tag == _EXTENSIONS_TAG:
            for extension in read_value(field.contents).values():
                kind, *_, value = extension.values()
                if object_id(kind) == _ALTERNATIVE_NAMES:
                    names = read_value(value.contents)
                    return frozenset(name.whole for name in names.values())
    return frozenset()


def distinguished_name(name: DerValue) -> str:
    """A name, as X.501 has it, in one line."""
    if name.tag != SEQUENCE:
        raise ValueError("a name is a sequence")
    return ",".join(_relative_name(part) for part in reversed(name.values()))


def certificate_fields(certificate: bytes) -> list[DerValue]:
    """The parts of what is signed in a certificate, without the version."""
    parts = read_value(certificate).values()
    if not parts or parts[0].tag != SEQUENCE:
        raise ValueError("not a certificate")
    fields = [field for field in parts[0].values() if field.tag != _VERSION_TAG]
    if len(fields) <= _SUBJECT_INDEX:
        raise ValueError("not a certificate")
    return fields


def _relative_name(part: DerValue) -> str:
    if part.tag != SET:
        raise ValueError("a part of a name is a set")
    return "+".join(_type_and_value(*_pair(each)) for each in part.values())


def _pair(each: DerValue) -> tuple[DerValue, DerValue]:
    found = each.values()
    if len(found) != 2:
        raise ValueError("a part of a name is a type and a value")
    return found[0], found[1]


def _type_and_value(kind: DerValue, value: DerValue) -> str:
    number = object_id(kind)
    keyword = _KEYWORDS.get(number)
    if keyword is None or value.tag not in _TEXT_TAGS:
        return f"{keyword or number}=#{value.whole.hex()}"
    return f"{keyword}={_escaped(value.contents.decode('utf-8', 'replace'))}"


def _escaped(text: str) -> str:
    written = "".join(f"\\{char}" if char in _ESCAPED else char for char in text)
    written = written.replace("\0", "\\00")
    start = len(written) - len(written.lstrip(_BLANKS))
    end = max(len(written.rstrip(_BLANKS)), start)
    leading, trailing = written[:start], written[end:]
    return (
        "".join(f"\\{char}" for char in leading)
        + written[start:end]
        + "".join(f"\\{char}" for char in trailing)
    )
