"""Failures of the launcher, each one sentence that says what to do."""

from __future__ import annotations


class LaunchError(Exception):
    """The command failed; exit code 1."""


class UsageError(LaunchError):
    """The command was called wrongly; exit code 2."""


class PortHeld(LaunchError):
    """Somebody else's program listens on our port."""


class InstallFailed(LaunchError):
    """The packages could not be installed; the text is the reason shown in /health."""
