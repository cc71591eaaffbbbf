"""UpdateFeatures (key 57): change the finalized feature levels (KIP-584)."""

from moldau.protocol.declaration import message, since, struct
from moldau.protocol.primitives import Int8, Int16, Int32


@struct
class FeatureUpdateKey:
    feature: str
    max_version_level: Int16
    allow_downgrade: bool = since(0, removed_in=1, default=False)
    upgrade_type: Int8 = since(1, default=1)


@message(api_key=57, versions=range(0, 2), flexible_from=0)
class UpdateFeaturesRequest:
    timeout_ms: Int32 = 60000
    feature_updates: list[FeatureUpdateKey]
    validate_only: bool = since(1, default=False)


@struct
class UpdatableFeatureResult:
    feature: str
    error_code: Int16
    error_message: str | None


@message(api_key=57, versions=range(0, 2), flexible_from=0)
class UpdateFeaturesResponse:
    throttle_time_ms: Int32
    error_code: Int16
    error_message: str | None
    results: list[UpdatableFeatureResult]
