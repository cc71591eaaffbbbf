"""Which version of an API to speak with a broker."""

from collections.abc import Iterable

from moldau.errors import ErrorCode, KafkaError
from moldau.protocol.apis import API_BY_KEY
from moldau.protocol.messages.api_versions import ApiVersion

# Fetch 13 names topics by their ids alone; FindCoordinator 4 and OffsetFetch 8 ask for several
# things at once, as the Admin client alone does; AddPartitionsToTxn 4 is for brokers; Produce
# below 2 and Fetch below 2 have records without a time: of these the clients speak the middle.
SPOKEN = {
    0: range(2, 12),
    1: range(2, 13),
    9: range(1, 8),
    10: range(4),
    24: range(4),
}

# What brokers before 0.10 speak, which close the connection when asked.
BEFORE_API_VERSIONS = {
    0: range(2),
    1: range(2),
    2: range(1),
    3: range(1),
    8: range(3),
    9: range(2),
    10: range(1),
    11: range(1),
    12: range(1),
    13: range(1),
    14: range(1),
    15: range(1),
    16: range(1),
}


class BrokerVersions:
    """The versions that one broker speaks, by API key."""

    def __init__(self, spoken: dict[int, range]) -> None:
        self._spoken = spoken
        self._agreed: dict[int, int] = {}

    @classmethod
    def of_answer(cls, answer: Iterable[ApiVersion]) -> "BrokerVersions":
        """From what the broker answered to ApiVersions."""
        return cls({each.api_key: range(each.min_version, each.max_version + 1) for each in answer})

    def has(self, api_key: int) -> bool:
        """Whether the broker speaks the API at all."""
        return api_key in self._spoken

    def speaks(self, api_key: int, version: int) -> bool:
        """Whether both sides could speak a version, even one that is used for some things alone."""
        return version in API_BY_KEY[api_key].versions and version in self._spoken.get(
            api_key, range(0)
        )

    def newest_or(self, api_key: int, otherwise: int) -> int:
        """The newest version that both sides speak, or something else if there is none."""
        try:
            return self.newest(api_key)
        except KafkaError:
            return otherwise

    def newest(self, api_key: int) -> int:
        """The newest version that both sides speak; UnsupportedVersion says what each speaks."""
        version = self._agreed.get(api_key)
        if version is None:
            version = self._agreed[api_key] = self._agree(api_key)
        return version

    def _agree(self, api_key: int) -> int:
        ours = SPOKEN.get(api_key, API_BY_KEY[api_key].versions)
        theirs = self._spoken.get(api_key, range(0))
        version = min(ours[-1], theirs.stop - 1)
        if version < max(ours.start, theirs.start):
            name = API_BY_KEY[api_key].name
            spoken = f"{theirs.start} to {theirs.stop - 1}" if theirs else "no"
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"the broker speaks {spoken} versions of {name}, this client "
                f"{ours.start} to {ours[-1]}",
            )
        return version
