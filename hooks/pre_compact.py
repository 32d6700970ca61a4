"""The PreCompact hook: reports to the server that Claude Code is about to compact the conversation, and what made it. It reads nothing of the transcript."""

from __future__ import annotations

import _event

if __name__ == "__main__":
    with _event.harmless:
        _event.report(_event.told(), "pre-compact", _event.Wire())
