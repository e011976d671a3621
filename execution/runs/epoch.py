"""The epoch of rights, on PostgreSQL: a number that every change of them raises, whoever makes it.

Triggers raise it, so that a bulk statement cannot pass by, once in each transaction and at its end: the
number's row is then locked for no longer than the commit takes, with no other lock to wait for.
"""

TABLE = """
CREATE TABLE execution_rights_epoch (id integer PRIMARY KEY CHECK (id = 1), value bigint NOT NULL);
INSERT INTO execution_rights_epoch VALUES (1, 1)
"""
FUNCTION = """
CREATE OR REPLACE FUNCTION execution_rights_epoch_raise() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('toolhub.rights_epoch', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
    INSERT INTO execution_rights_epoch AS e VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET value = e.value + 1;
    PERFORM set_config('toolhub.rights_epoch', pg_current_xact_id()::text, true);
  END IF;
  RETURN NULL;
END $$
"""
# Every table that rights are read from (execution/runs/rights.py), and the columns whose change matters
# where others change often; empty for all.
TABLES = {
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


def epoch_statements() -> list[str]:
    """What makes the table, the function and its triggers, for a migration."""
    made = [TABLE, FUNCTION]
    for table, columns in TABLES.items():
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
