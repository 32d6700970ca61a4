"""Passages: the places in a tree that speak to a question, without a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from explore.asking import Write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from live_memory.explore.passages import Passage, find_passages, render_passages

REPOSITORY = Path(__file__).resolve().parents[2]

SESSIONS = '''"""Where sessions are kept."""

import time


class SessionStore:
    """Sessions by their token, in memory."""

    def __init__(self):
        self.sessions = {}

    def refresh_token(self, token):
        """Renew a token shortly before it expires."""
        self.sessions[token].expires_at = time.time() + 3600
'''


@pytest.fixture
def project(write: Write) -> None:
    """A small project in several languages."""
    write("src/auth/sessions.py", SESSIONS)
    write(
        "src/queue.ts",
        "// Jobs wait here.\nexport class JobQueue {\n  dequeueOldest(): Job {\n    return this.jobs.shift();\n  }\n}\n",
    )
    write(
        "cmd/serve.go",
        "package cmd\n\n// Serve listens on the port and accepts connections.\nfunc (s *Server) Serve(port int) error {\n\treturn nil\n}\n",
    )
    write(
        "src/codec.rs",
        "/// Decodes a frame and checks its checksum.\npub fn decode_frame(bytes: &[u8]) -> Frame {\n    todo!()\n}\n",
    )
    write(
        "src/Billing.java",
        "class Billing {\n  public Invoice createInvoice(Customer customer) {\n    return null;\n  }\n}\n",
    )
    write(
        "native/ring.c", "/* The ring buffer. */\nstatic int\nring_push(struct ring *r, char c) {\n    return 0;\n}\n"
    )
    write("lib/mailer.rb", "class Mailer\n  def deliver_later(message)\n  end\nend\n")
    write("scripts/deploy.sh", "#!/bin/sh\nupload_artifacts() {\n  scp build/* host:\n}\n")
    write("docs/guide.md", "# Rate limiting\n\nRequests beyond the quota get 429.\n")
    write(".github/workflows/nightly.yml", "name: nightly\non:\n  schedule:\n    - cron: '0 3 * * *'\n")


def found(root: Path, question: str) -> list[str]:
    return [passage.path for passage in find_passages(root, question)]


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("How is a token renewed before it expires?", "src/auth/sessions.py"),
        ("what does SessionStore keep", "src/auth/sessions.py"),
        ("where is refresh_token", "src/auth/sessions.py"),
        ("refreshToken", "src/auth/sessions.py"),
        ("What is in src/auth/sessions.py?", "src/auth/sessions.py"),
        ("How does dequeueOldest pick a job?", "src/queue.ts"),
        ("Where do we listen for connections?", "cmd/serve.go"),
        ("How is a frame decoded and its checksum checked?", "src/codec.rs"),
        ("Where is an invoice created?", "src/Billing.java"),
        ("How is a character pushed into the ring buffer?", "native/ring.c"),
        ("Where are messages delivered later?", "lib/mailer.rb"),
        ("Which script uploads the artifacts?", "scripts/deploy.sh"),
        ("What happens when rate limiting kicks in?", "docs/guide.md"),
        ("When does the nightly workflow run?", ".github/workflows/nightly.yml"),
    ],
)
@pytest.mark.usefixtures("project", "engine")
def test_a_question_finds_its_file_first(root: Path, question: str, path: str) -> None:
    assert found(root, question)[0] == path


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("Come viene rinnovato un token prima della scadenza?", "src/auth/sessions.py"),
        ("Dove viene creata una fattura (Invoice)?", "src/Billing.java"),
        ("¿Cómo se renueva la sesión antes de que expire?", "src/auth/sessions.py"),
        ("Où est-ce que le serveur écoute le port ?", "cmd/serve.go"),
        ("Wie wird ein Frame dekodiert und seine Checksum geprüft?", "src/codec.rs"),
        ("会话的 token 如何更新?", "src/auth/sessions.py"),
    ],
)
def test_a_question_in_another_language_finds_english_code(root: Path, question: str, path: str) -> None:
    assert found(root, question)[0] == path


@pytest.mark.usefixtures("engine", "project")
def test_a_question_about_a_chinese_comment_finds_its_place(root: Path, write: Write) -> None:
    write(
        "src/cache.py", "\n" * 30 + "# 缓存失效策略:最久未使用的条目先被淘汰\ndef evict(cache):\n    cache.popitem()\n"
    )
    (first, *_) = find_passages(root, "最久未使用的条目怎么淘汰?")
    assert first.path == "src/cache.py"
    assert first.line_start <= 31 <= first.line_end


@pytest.mark.usefixtures("project")
def test_a_question_about_a_japanese_comment_finds_its_place(root: Path, write: Write) -> None:
    write("src/price.py", "# 消費税の端数は切り捨てる\ndef total(net):\n    return net\n")
    assert found(root, "消費税の端数はどう処理される?")[0] == "src/price.py"


@pytest.mark.usefixtures("project")
def test_the_passage_starts_at_the_definition_with_its_comment(root: Path) -> None:
    (first, *_) = find_passages(root, "what does decode_frame do")
    assert (first.line_start, first.text.split("\n")[0]) == (1, "/// Decodes a frame and checks its checksum.")
    assert "defines decode_frame" in first.reason


@pytest.mark.usefixtures("project")
def test_the_reason_names_the_questions_words_that_were_found(root: Path) -> None:
    (first, *_) = find_passages(root, "When is the token renewed?")
    assert "token" in first.reason


def test_lines_and_text_agree(root: Path, write: Write) -> None:
    lines = [f"line {number}" for number in range(1, 201)]
    lines[120] = "the needle_of_interest is here"
    write("long.py", "\n".join(lines))
    (first,) = find_passages(root, "needle_of_interest")
    assert first.text.split("\n") == lines[first.line_start - 1 : first.line_end]
    assert first.line_start <= 121 <= first.line_end
    assert first.line_end - first.line_start < 40


def test_a_passage_ends_at_the_last_line_that_holds_something(root: Path, write: Write) -> None:
    write("short.py", "\ndef needle_of_interest():\n    return 1\n\n\n")
    (first,) = find_passages(root, "needle_of_interest")
    assert (first.line_end, first.text.split("\n")[-1]) == (3, "    return 1")


def test_at_most_five_passages_come_back_and_fewer_when_fewer_are_wanted(root: Path, write: Write) -> None:
    for number in range(9):
        write(f"part{number}.py", "def frobnicate():\n    pass\n")
    assert len(find_passages(root, "frobnicate")) == 5
    assert len(find_passages(root, "frobnicate", limit=2)) == 2


@pytest.mark.usefixtures("engine")
def test_two_places_of_one_file_do_not_overlap(root: Path, write: Write) -> None:
    text = "def frobnicate_left():\n    pass\n" + "x = 1\n" * 100 + "def frobnicate_right():\n    pass\n"
    write("both.py", text)
    one, other = sorted(find_passages(root, "frobnicate"), key=lambda passage: passage.line_start)
    assert one.line_end < other.line_start


DEFINITION = "def reconcile_ledger(entries):\n    return sorted(entries)\n"


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_ledger.py",
        "src/vendor/ledger/ledger.py",
        "third_party/ledger.py",
        "src/generated/ledger.py",
        "docs/ledger.py",
        "examples/ledger.py",
        "locale/ledger.py",
        "src/ledger_pb2.py",
    ],
)
def test_tests_and_copies_stand_behind_the_source(root: Path, write: Write, path: str) -> None:
    write(path, DEFINITION)
    write("src/zz_books.py", DEFINITION)
    assert found(root, "How does reconcile_ledger work?") == ["src/zz_books.py", path]


def test_tests_come_first_when_they_are_asked_for(root: Path, write: Write) -> None:
    write("tests/test_ledger.py", "def test_reconcile_ledger():\n    pass\n")
    write("src/ledger.py", DEFINITION)
    assert found(root, "Which tests cover reconcile_ledger?")[0] == "tests/test_ledger.py"


def test_lock_files_and_minified_files_are_left_out_unless_asked_for(root: Path, write: Write) -> None:
    write("poetry.lock", 'name = "frobnicator"\n')
    write("app.min.js", "function frobnicator(){}\n")
    assert found(root, "where is the frobnicator") == []
    assert "poetry.lock" in found(root, "which version of frobnicator is in the lock file")


@pytest.mark.usefixtures("engine")
def test_what_git_ignores_is_not_found(root: Path, write: Write, git: Callable[..., str]) -> None:
    write(".gitignore", "/build/\n")
    write("build/out.py", DEFINITION)
    write("src/books.py", DEFINITION)
    assert found(root, "reconcile_ledger") == ["src/books.py"]


@pytest.mark.usefixtures("engine")
def test_secret_files_are_never_shown(root: Path, write: Write) -> None:
    write(".env", "RECONCILE_LEDGER=1\n")
    write("deploy.pem", "reconcile_ledger\n")
    assert found(root, "where is reconcile_ledger") == []


def test_secrets_in_a_passage_are_replaced(root: Path, write: Write) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    write("src/client.py", f'def connect_upstream():\n    return login("{secret}")\n')
    (first,) = find_passages(root, "connect_upstream")
    assert secret not in first.text
    assert secret not in render_passages([first])


def test_links_out_of_the_tree_are_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside" / "books.py").write_text(DEFINITION)
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "books.py").symlink_to(tmp_path / "outside" / "books.py")
    assert found(root, "reconcile_ledger") == []


def test_binary_and_odd_files_do_no_harm(root: Path, write: Write) -> None:
    write("data.bin", b"reconcile_ledger\0\xff\xfe" * 20)
    write("latin.py", "# r\xe9sum\xe9\ndef reconcile_ledger(): pass\n".encode("latin-1"))
    write("windows.py", "def reconcile_ledger():\r\n    pass\r\n")
    assert set(found(root, "reconcile_ledger")) == {"latin.py", "windows.py"}


@pytest.mark.usefixtures("project")
def test_the_same_question_has_the_same_answer_to_the_byte(root: Path) -> None:
    answers = {render_passages(find_passages(root, "How does the server renew a token?")) for _ in range(5)}
    assert len(answers) == 1


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    "question",
    [
        "",
        "?",
        "the of and",
        "(((",
        "a{9999999}",
        "[a-",
        "(a+)+$ (?=x) \\1 \\",
        '`unclosed "quote',
        "\x00\x1b[31m\ud800",
        '"a quoted \x00 zero" and "\ud800 half of a pair"',
        "`first line\nsecond line`",
        "*" * 50_000,
        "word " * 20_000,
        "x/" * 5_000,
        "a" * 100_000,
        "e\u0301" * 3000,
        "缓" * 5_000,
        "$() `rm -rf` ; -e foo --files",
        "--help",
    ],
)
def test_no_question_raises(root: Path, question: str) -> None:
    assert len(find_passages(root, question)) <= 5


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(max_size=200))
def test_no_text_at_all_raises(root: Path, question: str) -> None:
    (root / "some.py").write_text("def some(): return 'any'\n")
    assert len(find_passages(root, question)) <= 5


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("quoted", ["balance is due", "a + b == c", "50% & more ~ #1 - [x] {y} (z) | ^$ \\ /"])
def test_quoted_text_is_found_to_the_letter(root: Path, write: Write, quoted: str) -> None:
    write("texts.py", f"# {quoted}\n")
    write("other.py", "# balance b c more\n")
    assert found(root, f'Where is "{quoted}" printed?')[0] == "texts.py"


def test_a_question_is_never_an_expression(root: Path, write: Write) -> None:
    write("any.py", "def anything():\n    pass\n")
    assert found(root, 'where is "any.*thing"') == []


@pytest.mark.usefixtures("project")
def test_without_time_it_returns_what_it_has(root: Path) -> None:
    assert len(find_passages(root, "How is a token renewed?", timeout_s=0.0)) <= 1


def test_an_empty_folder_has_no_passages(root: Path) -> None:
    assert find_passages(root, "How does it work with the scheduler?") == ()


def test_passages_read_with_their_place_reason_and_line_numbers() -> None:
    passage = Passage("src/a.py", 9, 10, "def a():\n    pass", "defines a", 1.0)
    assert render_passages([passage]) == "src/a.py:9-10 (defines a)\n 9  def a():\n10      pass"


@pytest.mark.parametrize(
    "question",
    [
        "How does the launcher decide that a server is already running?",
        "Come fa il launcher a decidere che un server è già in esecuzione?",
    ],
)
def test_our_own_launcher_is_found(question: str) -> None:
    paths = found(REPOSITORY, question)
    assert sum(path.startswith("bin/launcher/") for path in paths) >= 3
