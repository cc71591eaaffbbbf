"""ApiVersions (key 18): list which versions of which APIs the broker speaks.

The response has a version 0 header in all versions, so that a client which asked for
more than the broker knows can read it.
"""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int16, Int32, Int64


@message(api_key=18, versions=range(0, 5), flexible_from=3)
class ApiVersionsRequest:
    client_software_name: str = since(3, default="", ignorable=True)
    client_software_version: str = since(3, default="", ignorable=True)


@struct
class ApiVersion:
    api_key: Int16
    min_version: Int16
    max_version: Int16


@struct
class SupportedFeatureKey:
    name: str
    min_version: Int16
    max_version: Int16


@struct
class FinalizedFeatureKey:
    name: str
    max_version_level: Int16
    min_version_level: Int16


@message(api_key=18, versions=range(0, 5), flexible_from=3)
class ApiVersionsResponse:
    error_code: Int16
    api_keys: list[ApiVersion]
    throttle_time_ms: Int32 = since(1, default=0, ignorable=True)
    supported_features: list[SupportedFeatureKey] = since(3, tag=0, factory=list, ignorable=True)
    finalized_features_epoch: Int64 = since(3, tag=1, default=-1, ignorable=True)
    finalized_features: list[FinalizedFeatureKey] = since(3, tag=2, factory=list, ignorable=True)
    zk_migration_ready: bool = since(3, tag=3, default=False, ignorable=True)
