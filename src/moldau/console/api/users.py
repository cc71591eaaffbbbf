"""Users with SCRAM passwords: listed, given passwords, removed; no password is ever answered."""

from moldau.client.admin.users import ScramDeletion, ScramPassword
from moldau.console.access import Role
from moldau.console.bodies import choice_of, confirm, text_of, whole_of
from moldau.console.endpoints import PREFIX, ApiCall, ApiEndpoint
from moldau.web.errors import WebError

_USERS = f"{PREFIX}/users"
_MECHANISMS = {"scram-sha-256": "SCRAM-SHA-256", "scram-sha-512": "SCRAM-SHA-512"}
_ITERATIONS_MIN, _ITERATIONS_MAX = 4096, 16_384  # what brokers take
_PASSWORD_MAX = 1000


async def users(call: ApiCall) -> object:
    """All users that have SCRAM passwords."""
    found = await (await call.admin()).describe_user_scram_credentials()
    rows: list[dict[str, object]] = [
        {
            "user": user,
            "credentials": [
                {"mechanism": each.mechanism, "iterations": each.iterations} for each in listed
            ],
        }
        for user, listed in sorted(found.succeeded.items())
    ]
    rows += [{"user": user, "error": error.code.name} for user, error in found.errors.items()]
    return {"users": rows}


async def put(call: ApiCall) -> object:
    """Give a user a password: a new user, or another password for one that there is."""
    sent = await call.body()
    user = text_of(sent, "user")
    mechanism = _MECHANISMS[choice_of(sent, "mechanism", _MECHANISMS, "scram-sha-512")]
    iterations = whole_of(sent, "iterations", _ITERATIONS_MIN, low=_ITERATIONS_MIN)
    if iterations > _ITERATIONS_MAX:
        raise WebError(400, f"iterations: brokers take {_ITERATIONS_MAX} at most")
    password = sent.get("password")
    if not isinstance(password, str) or not 0 < len(password) <= _PASSWORD_MAX:
        raise WebError(400, f"password: 1 to {_PASSWORD_MAX} characters")
    wanted = ScramPassword(user, password, mechanism, iterations)
    (await (await call.admin()).alter_user_scram_credentials([wanted])).check()
    return {"user": user, "mechanism": mechanism, "iterations": iterations}


async def delete(call: ApiCall) -> object:
    """Take passwords from a user; connections that are open stay so until they log in again."""
    sent = await call.body()
    user = call.path("user")
    confirm(sent, user, "remove the user")
    admin = await call.admin()
    known = [each.mechanism for each in (await admin.describe_user_scram_credentials(user))[user]]
    if "mechanism" in sent:
        wanted = _MECHANISMS[choice_of(sent, "mechanism", _MECHANISMS)]
        if wanted not in known:
            raise WebError(404, f"{user} has no password for {wanted}")
        known = [wanted]
    for mechanism in known:  # a request names a user once
        (await admin.alter_user_scram_credentials([ScramDeletion(user, mechanism)])).check()
    return {"deleted": user, "mechanisms": known}


ENDPOINTS = (
    ApiEndpoint("GET", _USERS, Role.OPERATOR, "Users with SCRAM passwords", users),
    ApiEndpoint(
        "PUT",
        _USERS,
        Role.ADMIN,
        "Give a user a SCRAM password",
        put,
        body={
            "user": "the name",
            "password": "the password; it is hashed here, and neither kept nor logged",
            "mechanism": "SCRAM-SHA-512 if left out, or SCRAM-SHA-256",
            "iterations": "4096 if left out, at most 16384",
        },
    ),
    ApiEndpoint(
        "DELETE",
        f"{_USERS}/{{user}}",
        Role.ADMIN,
        "Take SCRAM passwords from a user",
        delete,
        body={"confirm": "the name again", "mechanism": "one of them; all if left out"},
    ),
)
