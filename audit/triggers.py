"""The triggers that make the ledger append-only, on both databases.

In production the application's database role does not own the table, so it cannot drop them.
"""

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_POSTGRES_CREATE = """
CREATE OR REPLACE FUNCTION audit_event_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only: % refused', TG_OP
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER audit_event_no_change BEFORE UPDATE OR DELETE ON audit_event
  FOR EACH ROW EXECUTE FUNCTION audit_event_refuse();
CREATE TRIGGER audit_event_no_truncate BEFORE TRUNCATE ON audit_event
  FOR EACH STATEMENT EXECUTE FUNCTION audit_event_refuse();
"""
_POSTGRES_DROP = """
DROP TRIGGER IF EXISTS audit_event_no_change ON audit_event;
DROP TRIGGER IF EXISTS audit_event_no_truncate ON audit_event;
"""
_SQLITE_CREATE = tuple(
    f"CREATE TRIGGER audit_event_no_{act.lower()} BEFORE {act} ON audit_event "
    f"BEGIN SELECT RAISE(ABORT, 'the ledger is append-only: {act} refused'); END"
    for act in ("UPDATE", "DELETE")
)
_SQLITE_DROP = tuple(f"DROP TRIGGER IF EXISTS audit_event_no_{act}" for act in ("update", "delete"))


def triggers_create(editor: BaseDatabaseSchemaEditor) -> None:
    """Installs the triggers. A migration that rebuilds the table on SQLite calls it again."""
    for statement in [_POSTGRES_CREATE] if editor.connection.vendor == "postgresql" else _SQLITE_CREATE:
        editor.execute(statement, params=None)


def triggers_drop(editor: BaseDatabaseSchemaEditor) -> None:
    """Removes the triggers: only for a migration backwards, and for the tests' clean-up."""
    for statement in [_POSTGRES_DROP] if editor.connection.vendor == "postgresql" else _SQLITE_DROP:
        editor.execute(statement, params=None)
