"""The lint of packages, for the review page."""

from toolhub_sdk.lint.review import ALARMS, warnings_of
from toolhub_sdk.lint.warning import LintWarning

__all__ = ["ALARMS", "LintWarning", "warnings_of"]
