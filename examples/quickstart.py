"""A first look at Moldau: what a Kafka client and a broker say to each other, byte by byte.

Run it with bin/quickstart. There is no broker yet; this shows the two things that
everything else stands on, the wire protocol and the record batches.
"""

import struct

from moldau.protocol.apis import APIS
from moldau.protocol.codec import decode, encode
from moldau.protocol.headers import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
    encode_request_header,
    encode_response_header,
)
from moldau.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from moldau.records.batch import BatchHeader, crc_is_valid, read_records, write_batch
from moldau.records.compression import Codec
from moldau.records.record import Record

API_KEY, VERSION = 18, 3
RECORD_COUNT = 10_000
LIMIT_BYTES = 16 * 1024 * 1024


def main() -> None:
    show_first_exchange()
    show_batches()
    print(
        "\nNext: the modules in src/moldau/protocol/messages read as a reference of Kafka's\n"
        "protocol; ARCHITECTURE.md says what is built on them; bin/test runs the test suite."
    )


def show_first_exchange() -> None:
    """Every Kafka client begins by asking which versions of which APIs the broker speaks."""
    print(f"1. The first exchange: ApiVersions, version {VERSION}\n")
    header = RequestHeader(API_KEY, VERSION, correlation_id=1, client_id="quickstart")
    question = ApiVersionsRequest(client_software_name="moldau", client_software_version="0.1.0")
    request = framed(encode_request_header(header) + encode(question, VERSION))
    print(f"client -> broker, {len(request)} bytes")
    print(hex_lines(request))
    understood, body_position = decode_request_header(request, position=4)
    print(f"   reads {understood}")
    print(f"         {decode(ApiVersionsRequest, VERSION, request, body_position)[0]}\n")

    answer = ApiVersionsResponse(
        error_code=0,
        api_keys=[
            ApiVersion(api_key=api.key, min_version=api.versions[0], max_version=api.versions[-1])
            for api in APIS
        ],
    )
    response = framed(encode_response_header(1, API_KEY, VERSION) + encode(answer, VERSION))
    print(f"broker -> client, {len(response)} bytes, beginning with")
    print(hex_lines(response[:32]))
    _, body_position = decode_response_header(response, API_KEY, VERSION, position=4)
    received, _ = decode(ApiVersionsResponse, VERSION, response, body_position)
    assert received == answer
    print(f"   reads {len(received.api_keys)} APIs: {', '.join(api.name for api in APIS[:6])}, …\n")


def show_batches() -> None:
    """What producers send, what lies on disk and what consumers get is the same batch."""
    print(f"2. Record batches: {RECORD_COUNT:,} records with each codec\n")
    records = [
        Record(offset, 1_700_000_000_000 + offset, b"sensor-%d" % (offset % 100), reading(offset))
        for offset in range(RECORD_COUNT)
    ]
    print("   codec      bytes  bytes/record  checksum  read back")
    for codec in Codec:
        batch = write_batch(records, attributes=codec)
        header = BatchHeader.read(batch)
        is_valid = crc_is_valid(batch, 0, header.size)
        is_equal = list(read_records(batch, limit_bytes=LIMIT_BYTES)) == records
        assert is_valid
        assert is_equal
        print(
            f"   {header.codec.name.lower():8} {header.size:7,}  {header.size / RECORD_COUNT:12.1f}"
            f"  {header.crc:08x}  {header.record_count:,} equal records"
        )


def reading(offset: int) -> bytes:
    return b'{"celsius": %d.%d, "humidity": %d}' % (offset % 40, offset % 10, offset % 97)


def framed(payload: bytes) -> bytes:
    """On a connection every message follows its size."""
    return struct.pack(">i", len(payload)) + payload


def hex_lines(data: bytes) -> str:
    lines = []
    for start in range(0, len(data), 16):
        row = data[start : start + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        lines.append(f"   {row.hex(' '):47}  {text}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
