"""The routes by which notes leave and come, in the whole server and in the degraded one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from server.test_note_routes import DEGRADED, ROUNDING, TAX, Notes

from live_memory.memory import transfer
from live_memory.server.transfer_routes import TRANSFER_ROUTES


@pytest.fixture(params=[None, DEGRADED], ids=["whole", "degraded"])
async def notes(request: pytest.FixtureRequest, tmp_path: Path) -> Notes:
    made = Notes(tmp_path, request.param)
    await made.post("/notes", **ROUNDING)
    await made.post("/notes", **TAX, scope="global")
    return made


async def test_what_is_exported_is_imported_into_another_repository(notes: Notes, tmp_path: Path) -> None:
    out = await notes.post("/export", scope="all")
    assert (out["after"], [(note["scope"], note["kind"]) for note in out["notes"]]) == (
        None,
        [("global", "reference"), ("repo", "decision")],
    )
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".git").mkdir()
    other = {"cwd": str(tmp_path / "other"), "notes": out["notes"], "source": "notes.json"}
    assert (await notes.post("/import", **other, dry_run=True))["created"] == 1
    taken = await notes.post("/import", **other)
    assert (taken["created"], taken["unchanged"], taken["omissions"]) == (1, 1, [])
    again = await notes.post("/export", cwd=other["cwd"])
    assert again["notes"] == out["notes"]
    log = await notes.get("/log", cwd=other["cwd"])
    assert [(change["action"], change["reason"], change["batch"]) for change in log["changes"]][:1] == [
        ("import", "import of notes.json", taken["batch"])
    ]
    await notes.post("/undo", cwd=other["cwd"], batch=taken["batch"])
    assert len((await notes.post("/export", cwd=other["cwd"], scope="repo"))["notes"]) == 0


async def test_a_large_export_comes_in_pages(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "PAGE_NOTES", 1)
    seen, after = [], None
    for _ in range(5):
        page = await notes.post("/export", after=after)
        seen += [note["id"] for note in page["notes"]]
        after = page["after"]
        if after is None:
            break
    assert seen == ["tax-office", "totals-are-rounded-half-even-per-line"]


async def test_two_identities_become_one_by_folder_even_where_one_is_gone(notes: Notes, tmp_path: Path) -> None:
    other = tmp_path / "moved"
    (other / ".git").mkdir(parents=True)
    await notes.post("/notes", cwd=str(other), title="Of the other folder", body="A note that only lives over there.")
    (other / ".git").rmdir()
    other.rmdir()
    merged = await notes.post("/merge", **{"from": str(other), "to": notes.cwd})
    assert (merged["from"], merged["moved"], merged["joined"], merged["renamed"]) == (f"path:{other}", 1, {}, {})
    assert "of-the-other-folder" in {note["id"] for note in (await notes.post("/export"))["notes"]}


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("/export", {"scope": "world"}, "scope cannot be 'world'"),
    ("/export", {"after": "x"}, "after must be"),
    ("/import", {}, "notes must be a list"),
    ("/import", {"notes": ["x"]}, "notes must be a list"),
    ("/import", {"notes": [{}] * 1001}, "1000 at most"),
    ("/import", {"notes": [], "batch": "save-1"}, "batch must be"),
    ("/merge", {"from": "git:a/b"}, "to is missing"),
    ("/merge", {"from": "git:a/b", "to": "git:c/d"}, "No repository is known as git:c/d"),
    ("/merge", {"from": "/no/such/folder", "to": "git:c/d"}, "/no/such/folder"),
]


@pytest.mark.parametrize(("path", "body", "words"), BAD)
async def test_what_cannot_be_used_is_refused_with_a_sentence(
    notes: Notes, path: str, body: dict[str, Any], words: str
) -> None:
    status, answer = await notes.exchange("POST", path, {"cwd": notes.cwd, **body})
    assert (status in (400, 404), words in answer["error"]["message"]) == (True, True), answer


def test_every_route_is_served_without_the_packages() -> None:
    assert {route.needs for route in TRANSFER_ROUTES.values()} == {"desk"}
