"""Which files a distilled fact rests on, and in which version."""

from __future__ import annotations

from dataclasses import replace

from live_memory.agent.attribution import facts_of
from live_memory.agent.summarizer import Learned
from live_memory.notes.note import Fact
from live_memory.window.files import FileContext
from live_memory.window.window import Exchange, Window

AUTH = FileContext("src/auth.py", "aa", 1, 1, 0.0)
PORT = FileContext("server.py", "bb", 1, 1, 0.0)
WINDOW = Window("", files={file.path: file for file in (AUTH, PORT)})


def the_fact(line: str, *subjects: FileContext | Exchange, window: Window = WINDOW) -> Fact:
    learned = Learned(line, frozenset(range(len(subjects))))
    (fact,) = facts_of([learned], subjects, window, 5.0)
    return fact


def test_a_fact_rests_on_the_file_it_names_in_the_version_it_was_distilled_from() -> None:
    older = replace(PORT, sha256="older")
    fact = the_fact("The port is set in server.py.", older)
    assert fact.sources == {"server.py": "older"}
    assert fact.is_stale
    assert not the_fact("The port is set in server.py.", PORT).is_stale


def test_an_answer_hands_on_the_versions_it_rested_on() -> None:
    exchange = Exchange(1, "Where?", "In server.py:1.", (("server.py", "at the time"),))
    assert the_fact("The port is set in server.py.", exchange).sources == {"server.py": "at the time"}


def test_a_fact_that_names_another_known_file_rests_on_that_one() -> None:
    assert the_fact("The token is checked in src/auth.py.", PORT).sources == {"src/auth.py": "aa"}


def test_a_fact_that_names_no_file_rests_on_the_only_one_it_can_come_from() -> None:
    assert the_fact("Tokens live for an hour.", AUTH).sources == {"src/auth.py": "aa"}
    assert the_fact("Tokens live for an hour.", AUTH, PORT).sources == {}


def test_a_fact_about_a_file_that_is_gone_is_stale_from_the_beginning() -> None:
    gone = Window("", files={"src/auth.py": replace(AUTH, state="deleted")})
    assert the_fact("Tokens live for an hour.", AUTH, window=gone).is_stale
