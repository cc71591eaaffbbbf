"""A broker that seems to speak old versions of Metadata alone, which cannot say all."""

from moldau.protocol.apis import APIS
from moldau.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from moldau.testing.broker import EmbeddedBroker
from moldau.testing.control import Respond

_METADATA = 3


def speak_older_metadata(kafka: EmbeddedBroker, version_max: int) -> None:
    """Let clients that connect from now on believe that this is the newest version."""
    spoken = [
        ApiVersion(
            api_key=api.key,
            min_version=api.versions.start,
            max_version=version_max if api.key == _METADATA else api.versions[-1],
        )
        for api in APIS
    ]
    answer = ApiVersionsResponse(error_code=0, api_keys=spoken)
    kafka.control("ApiVersions", lambda _: Respond(answer))
