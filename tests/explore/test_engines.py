"""ripgrep and the engine for machines without it find the same, byte for byte."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from explore.in_process import InProcess

from live_memory.explore import plain, ripgrep
from live_memory.explore.child import Bounds, Child
from live_memory.explore.search import Counts, FileList, Hits, PatternInvalid, PatternUnsupported, Search


def words(text: str) -> list[str]:
    return text.split()


FILES: dict[str, str | bytes] = {
    "src/a.py": 'import os\nclass Foo:\n    def get_user(self): return os.getenv("X")\n\n\nfoo.bar()\n  trailing  \n\ttab\n',
    "src/b.ts": 'const x = interface{}\nlet größe = "straße"; STRASSE\nИмя = Привет\n中文 注释 词\nnaïve café — “quote”\nİstanbul ısı\nKelvin \u212a ſ\n',
    "src/crlf.txt": "one\r\ntwo foo\r\n\r\nthree\r\n",
    "src/lone-cr.txt": "a\rb foo\rc\nnext foo\n",
    "no-line-end.txt": "foo at end",
    "empty.txt": "",
    "blank.txt": "\n\n\nfoo\n\n",
    "bom.txt": b"\xef\xbb\xbffoo bom\nx\n",
    "utf16-le.txt": "\ufefffoo utf16 größe\nbar\n".encode("utf-16-le"),
    "utf16-be.txt": "\ufefffoo be\r\nbar\n".encode("utf-16-be"),
    "latin1.txt": "f\xe4oo caf\xe9 foo\nbar\xff baz\n".encode("latin-1"),
    "binary.dat": b"foo\0foo\nfoo\n",
    ".hidden": "foo hidden",
    ".config/x.ini": "foo=1\n",
    "scripts.txt": "नमस्ते दुनिया foo_बार\ne\u0301 x² Ⓐ ١٢٣\n\u200djoin\u200d\n",
    ".gitignore": "# rules\n*.log\n!keep.log\nbuild/\n/rooted\nsub/**/gen_*\na?c.tmp\n[xy].dat\nweird\\ name\n\\#hash\n"
    "**/deep/skip\nfoo/*\n!foo/bar.txt\n*.{aa,bb}\nvendor/**\n**/node/**/x.js\nx**y\n[\ntrailing   \n",
    ".git/info/exclude": "excluded.txt\n!x.log\n",
    "sub2/.gitignore": "*.txt\n!ok.txt\n/only\n",
    "nested/.gitignore": "*.md\n",
}
NAMES = words("""
x.log keep.log d/keep.log build/o.txt lib/build/o.txt lib/build2/o.txt rooted d/rooted sub/gen_1 sub/q/r/gen_2 sub/q/other
abc.tmp aéc.tmp x.dat y.dat z.dat #hash d/deep/skip d/deep/no foo/bar.txt foo/baz.txt foo/d/e.txt z.aa z.bb z.{aa,bb}
vendor/v/x.txt node/x.js node/a/b/x.js xABy xA/By -dash.txt [br].txt ünï/ø.txt .env .env.example k.pem credentials.json
sub2/a.txt sub2/ok.txt sub2/only sub2/d/only sub2/keep.log sub2/.hid excluded.txt s/excluded.txt nested/n.log nested/a.md
trailing node_modules/m/index.js .wt/one/w.txt
""")
ODD_NAMES = ("weird name", "sp ace/f.txt", 'we"ird\n.txt', os.fsdecode(b"bytes/n\xff.txt"))

SAME_PATTERNS = words(r"""
foo FOO ^foo foo$ ^foo$ ^$ ^ $ . f.o fo+ fo* (foo|bar) foo| \bfoo\b \Bo \w+ \W \W+ \s+ \S+ \s$ ^\s \d \D+ [a-c]+ [^a-c] [^\w]
[\W] [\s\S] [\d\D]x [\w.]+\( größe GRÖSSE GRÖßE straße Имя имя 中 中文.注释 \x{4e2d} \u4e2d \x66oo café caf. caf.\b i I ı İ k K s S
[a-z]+ [A-Z]+ (?i)foo (?i:F)oo (?-i)FOO (?s)f.o (?m)^foo (?P<n>foo) (?<n>foo) (?:foo)bar a{2} o{1,2} o{2,} } interface\{\} []a]
[^]a] [a-] [-a] [[:alpha:]]+ \<foo foo\> \- \/ \t a** a*+ a*? a+? (a*)* (a|b)*c | a||b () ()* ^* $* \b* foo.*end .* .+ é \xff ÿ
\W\W [^x]oo f[^o]?oo ² \w² Ⓐ \bbar e\W ſ K \. foo\.bar # & ~ - ß x{1001} (|a) [^\n]x [\x00-\x7f]+ \x{10ffff} [а-я]+ [^\s\w]
""")
INVALID_PATTERNS = words(
    r"interface{} foo( foo) [ [] [z-a] a{2 { x{,3} a{3,2} ( * *a + ? a|* (*) \q \h (?z)a (?P=n) (?P \x{110000} foo\ (?#x) (?i"
)
UNSUPPORTED_PATTERNS = words(r"(?=foo) (?!foo) (?<=a)b (?<!a)b (a)\1 \n a\nb \r [\n] \0")
ONLY_IN_RIPGREP = words(r"\p{L} [a&&b] [a[bc]] (?x)f (?U)fo+ x(?i)y \A [[:^alpha:]] \b{start}foo (?-u)foo")


@pytest.fixture(scope="module")
def odd_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with everything that the two engines could see differently."""
    root = Path(os.path.realpath(tmp_path_factory.mktemp("odd")))
    for folder in (root, root / "nested"):
        subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    for name in (*NAMES, *ODD_NAMES):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("foo\n")
    for name, content in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    worktree = root / ".git" / "worktrees" / "one"
    worktree.mkdir(parents=True)
    (worktree / "gitdir").write_text(f"{root}/.wt/one/.git\n")
    (root / ".wt" / "one" / ".git").write_text(f"gitdir: {worktree}\n")
    (root / "link.txt").symlink_to("no-line-end.txt")
    (root / "linked").symlink_to("src")
    (root / "outside").symlink_to("/etc")
    os.mkfifo(root / "pipe")
    return root


def outcomes(monkeypatch: pytest.MonkeyPatch, root: Path, search: Search) -> tuple[list[Any], list[Any]]:
    """What either engine makes of a search: its lines and matches, or the kind of refusal."""

    def outcome() -> list[Any]:
        try:
            return [
                ripgrep.find(root, search, "lines"),
                ripgrep.find(root, search, "matches"),
            ]
        except (PatternInvalid, PatternUnsupported) as error:
            return [type(error)]

    with_ripgrep = outcome()
    with monkeypatch.context() as patch:
        patch.chdir(root)
        patch.setattr(ripgrep, "_engine", InProcess)
        without = outcome()
    return with_ripgrep, without


def test_both_engines_find_the_same(odd_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pattern in ["", " ", "a\tb", "[\\t ]+$", "[^ ]", *SAME_PATTERNS]:
        with_ripgrep, without = outcomes(monkeypatch, odd_root, Search(pattern))
        assert with_ripgrep == without, pattern


def test_both_engines_find_the_same_where_case_matters(odd_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pattern in [pattern for pattern in SAME_PATTERNS if any(char.isalpha() for char in pattern)][::2]:
        with_ripgrep, without = outcomes(monkeypatch, odd_root, Search(pattern, "sensitive"))
        assert with_ripgrep == without, pattern


def test_both_engines_refuse_the_same(odd_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for patterns, refusal in (
        (INVALID_PATTERNS, PatternInvalid),
        (["foo\nbar", *UNSUPPORTED_PATTERNS], PatternUnsupported),
    ):
        for pattern in patterns:
            assert outcomes(monkeypatch, odd_root, Search(pattern)) == ([refusal], [refusal]), pattern


def test_what_only_ripgrep_can_do_is_refused_with_a_sentence(odd_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pattern in ONLY_IN_RIPGREP:
        with_ripgrep, without = outcomes(monkeypatch, odd_root, Search(pattern))
        assert isinstance(with_ripgrep[0], Hits), pattern
        assert without == [PatternUnsupported], pattern


@pytest.mark.parametrize(
    "start", [".", "src", "build", "vendor", "foo", "sub2", "sub", "nested", ".wt", "x.log", "d", "sub2/d"]
)
def test_both_engines_see_the_same_files(odd_root: Path, monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    def seen(names: tuple[str, ...]) -> tuple[FileList, Counts, Hits]:
        search = Search("foo", start=start, names=names)
        return ripgrep.list_files(odd_root, search), ripgrep.count(odd_root, search), ripgrep.find(odd_root, search)

    for names in ((), ("*.txt",), ("k*", "*eep*")):
        with_ripgrep = seen(names)
        with monkeypatch.context() as patch:
            patch.chdir(odd_root)
            patch.setattr(ripgrep, "_engine", InProcess)
            assert seen(names) == with_ripgrep


def test_what_is_seen_follows_git_s_rules(odd_root: Path) -> None:
    seen = set(ripgrep.list_files(odd_root, Search("")).paths)
    assert {"keep.log", ".hidden", "foo/bar.txt", "sub2/ok.txt", "node_modules/m/index.js", "nested/n.log"} <= seen
    unseen = {
        "x.log",
        "build/o.txt",
        "foo/baz.txt",
        "sub2/a.txt",
        "link.txt",
        "linked/a.py",
        "pipe",
        ".wt/one/w.txt",
        "excluded.txt",
    }
    assert not unseen & seen
    assert not any(path.startswith((".git/", "outside", "nested/.git/")) for path in seen)


@pytest.mark.usefixtures("engine")
def test_outside_of_a_checkout_heavy_folders_are_left_out(root: Path) -> None:
    for name in ("node_modules/m/index.js", "web/node_modules/x.js", ".venv/lib/x.py", "src/app.js"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("foo\n")
    (root / ".gitignore").write_text("src\n")  # no checkout, no ignore rules
    assert ripgrep.list_files(root, Search("")).paths == (".gitignore", "src/app.js")
    assert ripgrep.list_files(root, Search("", start="node_modules/m")).paths == ("node_modules/m/index.js",)


@pytest.mark.usefixtures("engine")
def test_a_file_is_binary_however_late_its_first_nul_comes(root: Path) -> None:
    (root / "late.dat").write_bytes(b"foo\n" * 50_000 + b"\0")
    (root / "text.txt").write_bytes(b"foo\n" * 50_000)
    assert ripgrep.count(root, Search("foo")).files == (("text.txt", 50_000),)
    assert [file.path for file in ripgrep.find(root, Search("foo", max_per_file=9)).files][-1:] == ["text.txt"]


def test_the_plain_engine_works_as_a_program(odd_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search = Search(r"\w*o+\b")
    with_ripgrep = ripgrep.count(odd_root, search), ripgrep.find(odd_root, search, "lines")
    monkeypatch.setattr(ripgrep, "find_ripgrep", lambda: None)
    assert (ripgrep.count(odd_root, search), ripgrep.find(odd_root, search, "lines")) == with_ripgrep
    files = [name for name in NAMES if name.endswith(".log")]
    assert len(ripgrep.find(odd_root, search, files=files * 500).files) == len(files)
    with pytest.raises(PatternInvalid):
        ripgrep.count(odd_root, Search("("))
    with pytest.raises(PatternUnsupported):
        ripgrep.count(odd_root, Search("(?=x)"))


def test_a_pattern_that_would_take_for_ever_is_stopped(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ripgrep, "find_ripgrep", lambda: None)
    (root / "a.txt").write_text("found aaab\n")
    (root / "b.txt").write_text("a" * 60 + "!\n")
    counts = ripgrep.count(root, Search(r"(a+)+b", timeout_s=1.5))
    assert counts == Counts((("a.txt", 1),), is_whole=False)


def test_a_search_whose_starter_was_killed_ends_by_itself(root: Path) -> None:
    (root / "b.txt").write_text("a" * 60 + "!\n")
    endless = plain.command("count", Search(r"(a+)+b", timeout_s=0.1), ["."], ())
    assert subprocess.run(endless, cwd=root, timeout=60, check=False).returncode == -signal.SIGALRM


def test_a_ripgrep_that_does_not_start_counts_as_none(root: Path) -> None:
    (root / "rg").write_bytes(b"\x7fELF of another machine")
    assert not ripgrep.starts(str(root / "rg"))
    (root / "rg").chmod(0o755)
    assert not ripgrep.starts(str(root / "rg"))
    assert not ripgrep.starts(str(root / "missing"))


def test_a_child_is_ended_with_all_that_it_started(root: Path) -> None:
    child = Child(["sh", "-c", "sleep 600 & echo started; wait"], root, Bounds(timeout_s=0.5, max_bytes=1000))
    assert child.output() == b"started\n"
    assert child.is_timed_out
    orphan = Child(["sh", "-c", "sleep 600 & echo started"], root, Bounds(timeout_s=0.5, max_bytes=1000))
    assert orphan.output() == b"started\n"
    endless = Child(["yes"], root, Bounds(timeout_s=30, max_bytes=1000))
    assert len(endless.output()) == 1000
    assert endless.is_cut
