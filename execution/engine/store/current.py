"""The store of this process's database."""

from django.conf import settings

from execution.engine.store.interface import Store
from execution.engine.store.postgres import PostgresStore
from execution.engine.store.sqlite import SqliteStore

STORE: Store = SqliteStore() if settings.DATABASE_IS_SQLITE else PostgresStore()
