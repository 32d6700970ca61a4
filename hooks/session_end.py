"""The SessionEnd hook: reports to the server that the session is over, and why. It reads nothing of the transcript."""

from __future__ import annotations

import _event

if __name__ == "__main__":
    with _event.harmless:
        _event.report(_event.told(), "session-end", _event.Wire())
