"""Fewer rows, checks and indexes for each call. See docs/adr/0014-what-a-call-writes.md."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from execution.engine.states import trigger_statements

# Table, column and the table that it names.
_NAMED = (
    ("execution_run", "persona_id", "security_persona"),
    ("execution_run", "token_id", "security_token"),
    ("execution_run", "responsible_id", "security_user"),
    ("execution_run", "tool_version_id", "registry_toolversion"),
    ("execution_attempt", "run_id", "execution_run"),
    ("execution_runevent", "run_id", "execution_run"),
)
# What a foreign key does when a named row is deleted; what it does with each INSERT is left out.
_FUNCTION = """
CREATE OR REPLACE FUNCTION execution_named_keep() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE named boolean;
BEGIN
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE %I = $1)', TG_ARGV[0], TG_ARGV[1]) INTO named USING OLD.id;
  IF named THEN
    RAISE EXCEPTION '% % is named by %.%', TG_TABLE_NAME, OLD.id, TG_ARGV[0], TG_ARGV[1]
      USING ERRCODE = 'foreign_key_violation';
  END IF;
  RETURN NULL;
END $$
"""


def _checks_move(apps: Any, editor: Any) -> None:
    """PostgreSQL checks on the side of what is named; SQLite, which has one writer, keeps its foreign keys."""
    if editor.connection.vendor != "postgresql":
        return
    editor.execute(_FUNCTION, params=None)
    for table, column, named in _NAMED:
        with editor.connection.cursor() as cursor:
            found = editor.connection.introspection.get_constraints(cursor, table)
        for name, facts in found.items():
            if facts["foreign_key"] and facts["columns"] == [column]:
                editor.execute(f'ALTER TABLE "{table}" DROP CONSTRAINT "{name}"')
        editor.execute(
            f"CREATE CONSTRAINT TRIGGER {table}_{column}_keep AFTER DELETE ON {named} "
            "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
            f"EXECUTE FUNCTION execution_named_keep('{table}', '{column}')",
            params=None,
        )


def _indexes_drop(apps: Any, editor: Any) -> None:
    """Nothing looks a run up by token or version alone."""
    with editor.connection.cursor() as cursor:
        found = editor.connection.introspection.get_constraints(cursor, "execution_run")
    for name, facts in found.items():
        if facts["index"] and facts["columns"] in (["token_id"], ["tool_version_id"]):
            editor.execute(f'DROP INDEX "{name}"')


def _triggers(apps: Any, editor: Any) -> None:
    # SQLite makes the table anew, without its triggers.
    for statement in trigger_statements(editor.connection.vendor):
        editor.execute(statement, params=None)


def _unchecked(model: str, name: str, to: str, **more: Any) -> migrations.AlterField:
    more = {"on_delete": django.db.models.deletion.PROTECT, "related_name": "+", **more}
    return migrations.AlterField(
        model, name, models.ForeignKey(to=to, db_index=False, db_constraint=False, **more)
    )


_OF_RUN = {"on_delete": django.db.models.deletion.CASCADE}


class Migration(migrations.Migration):
    dependencies = (("execution", "0015_metered"),)
    operations = (
        # First: SQLite makes the table anew for it, with the foreign keys that the state has.
        migrations.AddField("run", "is_brief", models.BooleanField(db_default=False, default=False)),
        migrations.RunPython(_triggers, migrations.RunPython.noop),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunPython(_checks_move, migrations.RunPython.noop),
                migrations.RunPython(_indexes_drop, migrations.RunPython.noop),
            ],
            state_operations=[
                _unchecked("run", "persona", "security.persona", related_name="runs"),
                _unchecked("run", "token", "security.token", null=True),
                _unchecked("run", "responsible", "security.user", null=True),
                _unchecked("run", "tool_version", "registry.toolversion", related_name="runs"),
                _unchecked("attempt", "run", "execution.run", related_name="attempts", **_OF_RUN),
                _unchecked("runevent", "run", "execution.run", related_name="events", **_OF_RUN),
            ],
        ),
    )
