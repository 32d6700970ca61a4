"""docs/conformance.md says what the conformance test does."""

from __future__ import annotations

from pathlib import Path

from e2e.conformance_table import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"


def test_the_conformance_page_is_the_conformance_table() -> None:
    assert PAGE.read_text() == page()
