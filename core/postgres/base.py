"""The database engine `core.postgres`: Django looks for DatabaseWrapper here."""

from typing import ClassVar

from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base

from core.postgres.pool import Pool


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, with our pool."""

    _connection_pools: ClassVar[dict[str, Pool]] = {}

    @property
    def pool(self) -> Pool | None:
        """This process's pool, if the settings ask for one."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if self.alias == NO_DB_ALIAS or not options:
            return None
        if self.alias not in self._connection_pools:
            # Django sets autocommit itself, when a connection is lent.
            params = {**self.get_connection_params(), "autocommit": True}
            configure = self._configure_connection  # type: ignore[attr-defined]
            made = Pool(kwargs=params, open=False, configure=configure, **options)
            # Of several threads the first one's counts; none is open yet.
            self._connection_pools.setdefault(self.alias, made)
        return self._connection_pools[self.alias]
