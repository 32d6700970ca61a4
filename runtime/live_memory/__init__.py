"""Live Memory: a memory of a code base for Claude Code, one local process per user."""

__version__ = "0.1.0"
