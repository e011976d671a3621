"""The format of log lines."""

import logging

from toolhub_sdk.visible_text import text_seen


class LineFormatter(logging.Formatter):
    """Shows control and bidirectional characters as escapes: logs quote callers, and terminals obey."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, and the traceback below it where there is one."""
        return text_seen(super().format(record))
