import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from django.db import migrations

import core.fields


def names_normalise(apps: Any, schema_editor: Any) -> None:
    """Give each person a name and an address in the normal form; print what a person has to know.

    Who has the name in small letters already keeps it. Another person of the same letters gets a number.
    """
    User = apps.get_model("security", "User")
    rows = list(User.objects.order_by("pk").values_list("pk", "username", "email"))
    taken = {name for _, name, _ in rows if _is_normal(name)}
    for pk, name, email in rows:
        if not _is_normal(name):
            wanted = _plain(name) or f"person-{pk}"
            new = next(one for one in _numbered(wanted) if one not in taken)
            taken.add(new)
            User.objects.filter(pk=pk).update(username=new)
            print(f"The person {name!r} signs in as {new!r} from now on.")
        if email.isascii() and email != email.lower():
            User.objects.filter(pk=pk).update(email=email.lower())
        elif not email.isascii():
            print(f"The address of {name!r} has other characters than ASCII: no sign-in is linked by it.")


def _is_normal(name: str) -> bool:
    return name == _plain(name)


def _plain(name: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9._@+-]", "", ascii_only.lower())[:140]


def _numbered(wanted: str) -> Iterator[str]:
    yield wanted
    for number in range(2, 1_000_000):
        yield f"{wanted}-{number}"


class Migration(migrations.Migration):
    dependencies = [("security", "0011_session_grants")]

    operations = [
        migrations.RunPython(names_normalise, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="user",
            name="username",
            field=core.fields.NameField(
                error_messages={"unique": "This name is taken."}, max_length=150, unique=True
            ),
        ),
        migrations.AlterField(
            model_name="user",
            name="email",
            field=core.fields.AddressField(blank=True, max_length=254),
        ),
    ]
