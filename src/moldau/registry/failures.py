"""What the registry refuses, in the codes and words of Confluent's, which clients look at."""

from moldau.web.errors import WebError

_CODES_PER_STATUS = 100
_LARGEST_STATUS = 599


class RegistryRefused(WebError):
    """A request that is refused; the code says why, and its first digits are the HTTP status."""

    def __init__(self, code: int, message: str) -> None:
        status = code if code <= _LARGEST_STATUS else code // _CODES_PER_STATUS
        super().__init__(status, message, code)


class InvalidSchema(RegistryRefused):
    """A text that is no schema of its kind."""

    def __init__(self, message: str) -> None:
        super().__init__(42201, message)


class NotLeader(RegistryRefused):
    """Somebody else writes, or nobody does as yet."""

    def __init__(self, message: str) -> None:
        super().__init__(50004, message)


def subject_not_found(subject: str) -> RegistryRefused:
    """There is no such subject, or it is deleted."""
    return RegistryRefused(40401, f"Subject '{subject}' not found.")


def version_not_found(version: int | str) -> RegistryRefused:
    """The subject has no such version."""
    return RegistryRefused(40402, f"Version {version} not found.")


def schema_not_found(schema_id: int | None = None) -> RegistryRefused:
    """No schema has this id, or this text."""
    named = "Schema not found" if schema_id is None else f"Schema {schema_id} not found"
    return RegistryRefused(40403, named)


def subject_soft_deleted(subject: str) -> RegistryRefused:
    """It is deleted already."""
    message = f"Subject '{subject}' was soft deleted. Set permanent=true to delete permanently"
    return RegistryRefused(40404, message)


def subject_not_soft_deleted(subject: str) -> RegistryRefused:
    """It has to be deleted before it can be deleted for ever."""
    message = f"Subject '{subject}' was not deleted first before being permanently deleted"
    return RegistryRefused(40405, message)


def version_soft_deleted(subject: str, version: int) -> RegistryRefused:
    """It is deleted already."""
    message = f"Subject '{subject}' Version {version} was soft deleted. Set permanent=true to "
    return RegistryRefused(40406, message + "delete permanently")


def version_not_soft_deleted(subject: str, version: int) -> RegistryRefused:
    """It has to be deleted before it can be deleted for ever."""
    message = f"Subject '{subject}' Version {version} was not deleted first before being "
    return RegistryRefused(40407, message + "permanently deleted")


def no_config(subject: str) -> RegistryRefused:
    """The subject has no level of its own."""
    message = f"Subject '{subject}' does not have subject-level compatibility configured"
    return RegistryRefused(40408, message)


def no_mode(subject: str) -> RegistryRefused:
    """The subject has no mode of its own."""
    message = f"Subject '{subject}' does not have subject-level mode configured"
    return RegistryRefused(40409, message)


def invalid_version(version: str) -> RegistryRefused:
    """It is neither a number from 1 on nor `latest`."""
    message = f"The specified version '{version}' is not a valid version id. Allowed values are "
    return RegistryRefused(42202, message + 'between [1, 2^31-1] and the string "latest"')


def not_permitted(message: str) -> RegistryRefused:
    """The mode does not allow it."""
    return RegistryRefused(42205, message)
