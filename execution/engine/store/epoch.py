"""The epoch of rights, on PostgreSQL: a number that every change of them replaces, whoever makes it.

Triggers do, so that a bulk statement cannot pass by, once in each transaction. A change leaves a note, whose
own trigger comes after all else that a commit checks: the number's row is then locked for no longer than the
commit takes, with no other lock to wait for. The number is drawn. One that is counted would come again where
a database goes back in time, and what a process kept under it would hold anew.
"""

from collections.abc import Mapping

TABLE = """
CREATE TABLE execution_rights_epoch (id integer PRIMARY KEY CHECK (id = 1), value bigint NOT NULL);
INSERT INTO execution_rights_epoch VALUES (1, 1)
"""
NOTES = (
    "CREATE TABLE IF NOT EXISTS execution_rights_note (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)"
)
REPLACING = """
CREATE OR REPLACE FUNCTION execution_rights_epoch_replace() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE drawn bigint := hashtextextended(gen_random_uuid()::text, 0);
BEGIN
  DELETE FROM execution_rights_note WHERE id = NEW.id;
  INSERT INTO execution_rights_epoch VALUES (1, drawn) ON CONFLICT (id) DO UPDATE SET value = drawn;
  RETURN NULL;
END $$
"""
NO_LAST = "DROP TRIGGER IF EXISTS execution_rights_note_last ON execution_rights_note"
LAST = """
CREATE CONSTRAINT TRIGGER execution_rights_note_last AFTER INSERT ON execution_rights_note
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION execution_rights_epoch_replace()
"""
NOTING = """
CREATE OR REPLACE FUNCTION execution_rights_epoch_raise() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('toolhub.rights_epoch', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
    INSERT INTO execution_rights_note DEFAULT VALUES;
    PERFORM set_config('toolhub.rights_epoch', pg_current_xact_id()::text, true);
  END IF;
  RETURN NULL;
END $$
"""
# Every table that rights are read from (rights.py), and the columns whose change matters
# where others change often; empty for all. First those of migration 0017.
FIRST = {
    "policy_flag": "",
    "policy_flaggedtool": "",
    "policy_limit": "",
    "policy_restriction": "",
    "policy_standing": "",
    "policy_tier": "",
    "registry_assignment": "",
    "registry_package": "name",
    "registry_tool": "",
    "registry_toolversion": "state, state_reason",
    "security_grant": "",
    "security_user": "username",
}
COLLECTIONS = {"registry_collection": "name", "registry_collectionmember": ""}
TABLES = {**FIRST, **COLLECTIONS}


def replacing_statements() -> list[str]:
    """What makes the notes and what follows them, also where an earlier form of it is."""
    return [NOTES, REPLACING, NO_LAST, LAST, NOTING]


def epoch_statements() -> list[str]:
    """What makes the epoch's tables, the functions and the first triggers, for a migration."""
    return [TABLE, *replacing_statements(), *watching_statements(FIRST)]


def watching_statements(tables: Mapping[str, str]) -> list[str]:
    """What makes the triggers of some tables, for a migration."""
    made = []
    for table, columns in tables.items():
        acts = f"INSERT OR DELETE OR UPDATE{f' OF {columns}' if columns else ''}"
        raising = "EXECUTE FUNCTION execution_rights_epoch_raise()"
        made.append(
            f"CREATE CONSTRAINT TRIGGER {table}_rights AFTER {acts} ON {table} "
            f"DEFERRABLE INITIALLY DEFERRED FOR EACH ROW {raising}"
        )
        made.append(
            f"CREATE TRIGGER {table}_rights_all AFTER TRUNCATE ON {table} FOR EACH STATEMENT {raising}"
        )
    return made
