"""Statements that are compiled once: Django takes longer to write the long ones than databases to answer."""

from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import BooleanField, Expression, F, Model, QuerySet

Statement = tuple[str, tuple[Any, ...]]
SAID = "said"


def statement(rows: QuerySet[Any]) -> Statement:
    """The rows' statement as text, with its parameters. EmptyResultSet where there can be none."""
    sql, parameters = rows.query.sql_with_params()
    return sql, tuple(parameters)


def condition(rows: QuerySet[Any]) -> Statement:
    """What the rows fulfil, as text on their table's own columns. They must join no other table."""
    compiler = rows.query.get_compiler(DEFAULT_DB_ALIAS)
    compiler.setup_query()
    sql, parameters = compiler.compile(rows.query.where)
    return sql, tuple(parameters)


class _Written(Expression):
    """A condition with one expression that Django resolves: so joins and aliases are its own."""

    output_field = BooleanField()

    def __init__(self, about: str, written: Statement) -> None:
        super().__init__()
        self.about: Any = F(about)
        self.written = written

    def get_source_expressions(self) -> list[Any]:
        return [self.about]

    def set_source_expressions(self, exprs: Sequence[Any]) -> None:
        (self.about,) = exprs


class Named(_Written):
    """Whether a column names one of the rows of a statement, which has one column, SAID."""

    def as_sql(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, tuple[Any, ...]]:
        """Correlated, as databases plan it best; the statement's own tables cannot be meant by the column."""
        column, parameters = compiler.compile(self.about)
        sql, own = self.written
        said = connection.ops.quote_name(SAID)
        # The statement is Django's own; every value is a parameter.
        text = f"EXISTS(SELECT 1 FROM ({sql}) named_ WHERE named_.{said} = {column})"  # noqa: S608
        return text, (*own, *parameters)


class Fulfils(_Written):
    """Whether a row of a model fulfils what `condition` wrote."""

    def __init__(self, model: type[Model], written: Statement) -> None:
        super().__init__("pk", written)
        self.table = model._meta.db_table

    def as_sql(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, tuple[Any, ...]]:
        """The text, for the table as this statement calls it."""
        sql, parameters = self.written
        if self.about.alias != self.table:
            own, here = (
                connection.ops.quote_name(self.table),
                compiler.quote_name_unless_alias(self.about.alias),
            )
            sql = sql.replace(f"{own}.", f"{here}.")
        return f"({sql})", parameters
