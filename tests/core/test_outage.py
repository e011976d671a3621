"""A database that is away is told in a line; a mistake in a statement with its trace."""

import logging

import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError

from core.outage import database_failure_log

log = logging.getLogger("tests.outage")


@pytest.mark.parametrize(
    "error", [OperationalError("refused\nIs it running?"), InterfaceError("closed"), OperationalError()]
)
def test_an_outage_is_one_line(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    database_failure_log(log, "duty bells", error)  # type: ignore[arg-type]
    (line,) = caplog.records
    assert (line.levelno, line.exc_info) == (logging.WARNING, None)
    assert "\n" not in line.getMessage()


def test_a_mistake_keeps_its_trace(caplog: pytest.LogCaptureFixture) -> None:
    database_failure_log(log, "duty bells", ProgrammingError("no such table"))
    (line,) = caplog.records
    assert line.levelno == logging.ERROR
    assert line.exc_info
