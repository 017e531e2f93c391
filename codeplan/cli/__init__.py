"""The command line."""

from codeplan.cli.app import main, report_error

__all__ = ["main", "report_error"]
