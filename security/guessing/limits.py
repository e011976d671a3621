"""Every limit against guessing. docs/guessing.md is made from this table, and a test fires each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """After `free` tries the next one has to wait `first_s` seconds, and each further one twice as long.

    The longest wait is `most_s`. Every `forget_s` seconds one try is forgotten.

    `counts` and `per` describe the limit in the docs.
    """

    name: str
    counts: str
    per: str
    free: int
    first_s: int
    most_s: int
    forget_s: int

    @property
    def level_max(self) -> int:
        """The count at which the wait is `most_s`: more are not counted."""
        return self.free + 1 + max(0, (self.most_s // self.first_s)).bit_length()


_MINUTE = 60
SIGN_IN = Limit("sign_in", "Sign-ins, right or wrong", "address", 60, 1, 60, 1)
PASSWORD_HERE = Limit(
    "password_here", "Wrong passwords", "address and name", 5, 2, 15 * _MINUTE, 60 * _MINUTE
)
PASSWORD_ADDRESS = Limit(
    "password_address", "Wrong passwords, whatever the name", "address", 30, 2, 15 * _MINUTE, 60
)
PASSWORD_NAME = Limit("password_name", "Wrong passwords, whatever the address", "name", 50, 1, 30, 60)
PASSWORD_DEVICE = Limit(
    "password_device", "Wrong passwords in a known browser", "browser", 10, 2, 15 * _MINUTE, 60 * _MINUTE
)
CODE_HERE = Limit(
    "code_here",
    "Wrong codes of a second factor, and recovery codes",
    "address and person",
    5,
    2,
    15 * _MINUTE,
    60 * _MINUTE,
)
CODE_PERSON = Limit(
    "code_person", "The same, whatever the address", "person", 20, 2, 15 * _MINUTE, 60 * _MINUTE
)
CODE_DEVICE = Limit(
    "code_device", "The same in a known browser", "browser", 10, 2, 15 * _MINUTE, 60 * _MINUTE
)
CODE_AGAIN = Limit("code_again", "Uses of one code of a second factor", "person and code", 1, 90, 90, 90)
INVITATION = Limit(
    "invitation", "Wrong addresses of invitations and of new passwords", "address", 20, 2, 5 * _MINUTE, 60
)
PROVIDER = Limit("provider", "Requests to /sign-in/provider/ and below", "address", 60, 1, 60, 1)
METRICS = Limit("metrics", "Wrong tokens for /metrics", "address", 10, 2, 5 * _MINUTE, 60)
SECRET_TEST = Limit("secret_test", "Tests of secrets", "person or persona", 20, 5, 5 * _MINUTE, 30)

LIMITS = (
    SIGN_IN,
    PASSWORD_HERE,
    PASSWORD_ADDRESS,
    PASSWORD_NAME,
    PASSWORD_DEVICE,
    CODE_HERE,
    CODE_PERSON,
    CODE_DEVICE,
    CODE_AGAIN,
    INVITATION,
    PROVIDER,
    METRICS,
    SECRET_TEST,
)
