"""A broker that gives prepared answers, for what ours does not do or does too well."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from moldau.client.admin.admin import Admin
from moldau.client.connection.addresses import Address
from moldau.protocol.apis import API_BY_KEY, APIS
from moldau.protocol.codec import decode, encode
from moldau.protocol.headers import decode_request_header, encode_response_header
from moldau.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from moldau.protocol.messages.metadata import MetadataResponse, MetadataResponseBroker
from unit.client.scripted import scripted_broker

METADATA = "Metadata"
API_VERSIONS = "ApiVersions"


class Answering:
    """Answers by the names of APIs; what was asked stays in `asked`."""

    def __init__(self, **answers: Callable[[Any], object]) -> None:
        self.answers = answers
        self.asked: list[Any] = []
        self.newest: dict[str, int] = {}
        """Versions that are lower than ours."""
        self.address: Address

    def __call__(self, frame: bytes) -> bytes:
        header, position = decode_request_header(frame)
        api = API_BY_KEY[header.api_key]
        request: Any
        request, _ = decode(api.request, header.api_version, frame, position)
        answer: object
        if api.name in self.answers:
            self.asked.append(request)
            answer = self.answers[api.name](request)
        elif api.name == API_VERSIONS:
            answer = self._versions()
        else:
            assert api.name == METADATA, api.name
            answer = self.metadata()
        start = encode_response_header(header.correlation_id, api.key, header.api_version)
        return start + encode(answer, header.api_version)

    def _versions(self) -> ApiVersionsResponse:
        return ApiVersionsResponse(
            error_code=0,
            api_keys=[
                ApiVersion(
                    api_key=api.key,
                    min_version=0,
                    max_version=self.newest.get(api.name, api.versions[-1]),
                )
                for api in APIS
                if api.name in (*self.answers, METADATA, API_VERSIONS)
            ],
        )

    def metadata(self) -> MetadataResponse:
        here = MetadataResponseBroker(node_id=1, host=self.address.host, port=self.address.port)
        return MetadataResponse(brokers=[here], controller_id=1, topics=[])


@asynccontextmanager
async def admin_of(broker: Answering, **settings: object) -> AsyncIterator[Admin]:
    """An admin client that talks to such a broker."""
    async with scripted_broker(broker) as address:
        broker.address = address
        mapping: dict[str, object] = {"bootstrap.servers": str(address), "retry.backoff.ms": 1}
        mapping |= {name.replace("_", "."): value for name, value in settings.items()}
        async with Admin(mapping) as admin:
            yield admin
