"""No path leads out of the workspace, and no file makes a tool wait."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

import pytest
from explore.asking import Write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from live_memory.errors import ToolRefusal
from live_memory.explore.jail import is_git_folder, read_text, resolve, shown


def refusal(root: Path, path: str) -> str:
    with pytest.raises(ToolRefusal) as caught:
        read_text(root, path)
    return str(caught.value)


@pytest.mark.parametrize(
    "path",
    [
        "../outside/private.txt",
        "src/../../outside/private.txt",
        "src/../../workspace-2/file",
        "/etc/passwd",
        "..",
        "/",
        "~/private.txt",
        "~",
        "//server/share/file",
        "\\\\server\\share\\file",
        "C:\\Users\\me\\file",
        "c:/Users/me/file",
        "./.././outside/private.txt",
        "/proc/self/environ",
        "/dev/fd/0",
    ],
)
def test_a_path_that_leads_outside_is_refused(root: Path, write: Write, path: str) -> None:
    write("src/app.py", "x = 1\n")
    assert "not for the model" not in refusal(root, path)


def test_an_absolute_path_inside_is_taken_as_a_relative_one(root: Path, write: Write) -> None:
    write("src/app.py", "x = 1\n")
    assert read_text(root, f"{root}/src/app.py").stamp.path == "src/app.py"
    assert read_text(root, "src/../src/./app.py").stamp.path == "src/app.py"


def test_an_absolute_path_through_a_link_to_the_root_is_inside(root: Path, write: Write, tmp_path: Path) -> None:
    write("app.py", "x = 1\n")
    (tmp_path / "shortcut").symlink_to(root)
    assert read_text(root, f"{tmp_path}/shortcut/app.py").stamp.path == "app.py"


def test_a_folder_whose_name_starts_like_the_root_is_outside(root: Path, tmp_path: Path) -> None:
    (tmp_path / "workspace-2").mkdir()
    (tmp_path / "workspace-2" / "file").write_text("secret")
    assert "outside" in refusal(root, "../workspace-2/file")


def test_links_are_judged_by_where_they_lead(root: Path, write: Write, tmp_path: Path) -> None:
    write("real.txt", "fine\n")
    (root / "inner").symlink_to("real.txt")
    (root / "outer").symlink_to(tmp_path / "outside" / "private.txt")
    (root / "outer-folder").symlink_to(tmp_path / "outside")
    (root / "chain").symlink_to("outer-folder")
    (root / "loop").symlink_to("loop")
    assert read_text(root, "inner").stamp.path == "real.txt"
    for path in ("outer", "outer-folder/private.txt", "chain/private.txt", "loop"):
        assert "not for the model" not in refusal(root, path)


def test_a_link_outside_is_refused_without_naming_its_target(root: Path, tmp_path: Path) -> None:
    (root / "outer").symlink_to(tmp_path / "outside" / "private.txt")
    assert "private.txt" not in refusal(root, "outer")


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".GIT/config",
        ".Git/HEAD",
        "sub/.git",
        ".git./config",
        ".git /config",
        ".git::$INDEX_ALLOCATION/config",
        "GIT~1/config",
        ".g\u200cit/config",
        ".git\u200b/config",
        "src/../.git/config",
    ],
)
def test_git_s_own_folder_is_refused_however_it_is_spelled(root: Path, path: str) -> None:
    assert "Git's own folder" in refusal(root, path)


def test_a_link_into_git_s_folder_is_refused(root: Path, write: Write) -> None:
    write(".git/config", "[core]\n")
    (root / "settings").symlink_to(".git/config")
    assert "Git's own folder" in refusal(root, "settings")


def test_files_that_only_look_like_git_s_folder_are_read(root: Path, write: Write) -> None:
    write(".gitignore", "*.log\n")
    write(".github/workflows/ci.yml", "on: push\n")
    assert read_text(root, ".gitignore").text == "*.log\n"
    assert read_text(root, ".github/workflows/ci.yml").text == "on: push\n"
    assert not is_git_folder(".gitmodules")


def test_a_pipe_is_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert "named pipe" in refusal(root, "pipe")


def test_a_socket_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)  # a socket's path has few characters
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert "socket" in refusal(root, "socket")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/tty", "/dev/stdin"])
def test_a_link_to_a_device_is_refused(root: Path, device: str) -> None:
    (root / "device").symlink_to(device)
    refusal(root, "device")


def test_a_device_is_refused_as_the_root_of_a_workspace_could_hold_one() -> None:
    assert "a device" in refusal(Path("/dev"), "null")


def test_a_folder_is_not_read(root: Path, write: Write) -> None:
    write("src/app.py", "")
    assert "find_paths" in refusal(root, "src")
    assert "find_paths" in refusal(root, ".")


def test_a_file_that_is_not_there_is_said_to_be_missing(root: Path, write: Write) -> None:
    write("app.py", "")
    assert "There is no file gone.py" in refusal(root, "gone.py")
    assert "There is no file app.py/inner" in refusal(root, "app.py/inner")


def test_names_with_line_ends_and_nul_are_handled(root: Path, write: Write) -> None:
    write("two\nlines.txt", "content\n")
    assert read_text(root, "two\nlines.txt").text == "content\n"
    assert "\n" not in refusal(root, "no\nsuch\nfile")
    assert "NUL" in refusal(root, "a\0b")
    assert "too long" in refusal(root, "a" * 5000)
    refusal(root, "a/" * 2000)


def test_a_huge_file_is_refused_unread(root: Path) -> None:
    with (root / "huge.log").open("wb") as file:
        file.truncate(50 << 30)
    assert "53.7 GB, too large" in refusal(root, "huge.log")


def test_a_binary_file_is_named_as_such(root: Path, write: Write) -> None:
    write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0")
    assert "binary file of 11 bytes" in refusal(root, "logo.png")


def test_text_in_other_encodings_is_read_with_a_remark(root: Path, write: Write) -> None:
    write("le.txt", "\ufeffGröße 中".encode("utf-16-le"))
    write("be.txt", "\ufeffGröße 中".encode("utf-16-be"))
    write("bom.txt", b"\xef\xbb\xbfplain")
    write("latin.txt", "caf\xe9".encode("latin-1"))
    assert read_text(root, "le.txt").text == read_text(root, "be.txt").text == "Größe 中"
    assert "UTF-16" in read_text(root, "le.txt").remark
    assert (read_text(root, "bom.txt").text, read_text(root, "bom.txt").remark) == ("plain", "")
    assert read_text(root, "latin.txt").text == "caf\ufffd"
    assert "not valid UTF-8" in read_text(root, "latin.txt").remark


def test_an_unreadable_file_is_said_to_be_so(root: Path, write: Write) -> None:
    write("locked.txt", "x").chmod(0)
    if os.geteuid() == 0:  # nothing is unreadable to the superuser
        assert read_text(root, "locked.txt").text == "x"
    else:
        assert "permissions" in refusal(root, "locked.txt")


@pytest.mark.parametrize("name", [".env", "config/.ENV", "deploy.pem", "id_rsa", ".npmrc", "credentials.json"])
def test_a_secret_file_is_never_read(root: Path, write: Write, name: str) -> None:
    write(name, "do not show")
    assert "may hold secrets" in refusal(root, name)


def test_a_link_to_a_secret_file_is_never_read(root: Path, write: Write) -> None:
    write(".env", "do not show")
    (root / "settings.txt").symlink_to(".env")
    assert "may hold secrets" in refusal(root, "settings.txt")


def test_a_stamp_tells_the_bytes_that_were_read(root: Path, write: Write) -> None:
    file = write("app.py", "x = 1\n")
    stamp = read_text(root, "app.py").stamp
    assert stamp.sha256 == hashlib.sha256(b"x = 1\n").hexdigest()
    assert (stamp.size_bytes, stamp.mtime_ns) == (6, file.stat().st_mtime_ns)


def test_a_folder_swapped_for_a_link_after_judgement_is_not_followed(root: Path, write: Write, tmp_path: Path) -> None:
    from live_memory.explore.jail import opened

    write("src/private.txt", "mine\n")
    judged = resolve(root, "src/private.txt")
    (root / "src" / "private.txt").unlink()
    (root / "src").rmdir()
    (root / "src").symlink_to(tmp_path / "outside")
    with pytest.raises(ToolRefusal), opened(root, judged):
        pass


PARTS = st.sampled_from(
    [
        "..",
        ".",
        "",
        "src",
        "link",
        "out",
        "up",
        "loop",
        "/",
        "\\",
        "~",
        "C:",
        "nested",
        "private.txt",
        "\n",
        "é",
        "workspace",
    ]
)
PATHS = st.one_of(
    st.text(max_size=40), st.lists(PARTS, max_size=12).map("/".join), st.lists(PARTS, max_size=8).map("".join)
)


@pytest.mark.parametrize("path", ["loop/../out", "loop/../loop/../out/secret", "detour", "missing/../loop/../out"])
def test_a_link_that_leads_to_itself_hides_no_way_out(root: Path, tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").mkdir(exist_ok=True)
    (root / "loop").symlink_to("loop")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "detour").symlink_to("loop/../out")
    with pytest.raises(ToolRefusal, match="outside of the workspace"):
        resolve(root, path)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=PATHS, is_absolute=st.booleans())
def test_no_path_resolves_to_anything_outside(root: Path, tmp_path: Path, path: str, is_absolute: bool) -> None:
    if not (root / "src").exists():
        (root / "src" / "nested").mkdir(parents=True)
        (root / "link").symlink_to("src")
        (root / "out").symlink_to(tmp_path / "outside")
        (root / "src" / "up").symlink_to("../..")
        (root / "loop").symlink_to("loop")
    try:
        real = resolve(root, f"{root}/{path}" if is_absolute else path)
    except ToolRefusal:
        return
    assert real == root or root in real.parents
    assert Path(os.path.realpath(real)).is_relative_to(root)


@given(st.text())
def test_what_is_shown_of_a_path_is_one_printable_line(path: str) -> None:
    assert shown(path).isprintable()
    shown(path).encode()
