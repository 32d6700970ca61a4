"""Notes under siege: nothing that a session was told is kept gets lost, whoever writes beside it and whenever the server dies."""

from __future__ import annotations

from pathlib import Path

from e2e.note_siege import COMPACTED, SESSIONS, besieged

SECONDS = 8.0


def test_eight_sessions_at_once_lose_no_write_beside_questions_compaction_and_a_kill(tmp_path: Path) -> None:
    outcome = besieged(tmp_path, SECONDS)
    told = outcome.told
    assert told.troubles == []
    assert outcome.lost == {}
    assert outcome.integrity == "ok"
    assert outcome.damaged == ()
    assert len(told.kept) >= SESSIONS
    assert len(told.search_s) >= SESSIONS
    assert told.answers >= 2
    assert COMPACTED in outcome.log
    assert not [
        line for line in outcome.log.splitlines() if " ERROR " in line or "Traceback" in line or "locked" in line
    ]
