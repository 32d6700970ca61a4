"""Which repository a tree belongs to, whatever its folder is called: by its remote, else its first commit, else its path.

Worktrees and clones of one repository bear one id; two repositories of one name, and two forks, do not. Blocking; git is
run to read only, and never talks to a remote.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from live_memory.errors import ToolRefusal
from live_memory.explore import git
from live_memory.explore.child import Bounds

REMOTE_BOUNDS = Bounds(timeout_s=2.0, max_bytes=1 << 18)
HISTORY_BOUNDS = Bounds(timeout_s=5.0, max_bytes=1 << 20)
MAX_CLONES_OF_CLONES = 4  # local clones are followed to what they were cloned from
SLOW = "git took too long to say which repository this is."
_FETCHED = re.compile(r"([^\t\n]+)\t(.*) \(fetch\)")
_URL = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^/@]*@)?(?P<host>\[[^\]]*\]|[^/:]*)(?::\d*)?(?P<path>/.*)?", re.DOTALL
)
_SCP = re.compile(r"(?:[^/@:]*@)?(?P<host>\[[^\]]*\]|[^/:@]{2,}):(?P<path>(?!//).*)", re.DOTALL)
_HELPER = re.compile(r"(?P<name>[A-Za-z0-9]+)::(?P<rest>.*)", re.DOTALL)
# The same service by other names, for networks that close the usual port.
_ALIASES: Mapping[str, str] = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
_CASE_BLIND = frozenset({"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "dev.azure.com"})


def repo_id(root: Path) -> str:
    """`git:host/owner/name` of the remote (`origin`, else the first), `commit:` and the oldest root commit, or `path:` and
    the root, for a canonical `root`. ToolRefusal where there is a repository of which git does not tell."""
    return _identity(root, MAX_CLONES_OF_CLONES)


def bears(root: Path, other_id: str) -> bool:
    """Whether the tree at `root` is also the one that `other_id` names: one of its remotes, its first commit, its path.
    ToolRefusal as above."""
    if other_id == _by_path(root):
        return True
    if not _is_checkout(root):
        return False
    if other_id.startswith("commit:"):
        return _first_commit(root) == other_id
    return any(_of_remote(root, url, MAX_CLONES_OF_CLONES) == other_id for url in _remotes(root).values())


def normalised(url: str) -> str:
    """`host/path` of a remote, however it is spelled: without scheme, user, password, port and `.git`; a local one's path
    as it is."""
    if helper := _HELPER.fullmatch(url):
        url = helper["rest"]
    if url.lower().startswith("file://"):
        return _without_git(unquote(url[len("file://") :].removeprefix("localhost")))
    parts = _URL.fullmatch(url) or (None if _is_local(url) else _SCP.fullmatch(url))
    if parts is None:
        return _without_git(url)
    host = parts["host"].lower().rstrip(".")
    host = _ALIASES.get(host, host)
    path = _without_git(re.sub("/+", "/", unquote((parts["path"] or "").partition("?")[0])).strip("/"))
    if host == "dev.azure.com":
        path = path.removeprefix("v3/").replace("/_git/", "/")
    return f"{host}/{path.lower() if host in _CASE_BLIND else path}"


def _identity(root: Path, clones_left: int) -> str:
    if not _is_checkout(root):
        return _by_path(root)
    remotes = _remotes(root)
    url = remotes.get("origin") or next(iter(remotes.values()), "")
    return (_of_remote(root, url, clones_left) if url else "") or _first_commit(root) or _by_path(root)


def _of_remote(root: Path, url: str, clones_left: int) -> str:
    """The id that a remote stands for; a clone of a working tree on this machine is the repository that that one is."""
    name = normalised(url)
    if not _is_local(name):
        return f"git:{name}" if name.strip("/") else ""
    source = Path(os.path.realpath(os.path.join(root, name)))
    if clones_left and source != root and _is_checkout(source):
        return _identity(source, clones_left - 1)
    return f"git:{source.as_posix()}"


def _remotes(root: Path) -> dict[str, str]:
    """Name → address to fetch from, with the short forms of the user's configuration written out."""
    lines = _output(root, ["remote", "-v"], REMOTE_BOUNDS).splitlines()
    return {match[1]: match[2] for line in lines if (match := _FETCHED.match(line))}


def _first_commit(root: Path) -> str:
    """The oldest commit without a parent, over all branches, so that it does not depend on what is checked out; empty
    before the first commit."""
    listed = _output(root, ["rev-list", "--max-parents=0", "--timestamp", "--all"], HISTORY_BOUNDS)
    commits = [(int(seconds), sha) for seconds, _, sha in (line.partition(" ") for line in listed.splitlines())]
    return f"commit:{min(commits)[1]}" if commits else ""


def _output(root: Path, arguments: list[str], bounds: Bounds) -> str:
    printed, child = git.output(root, arguments, bounds)
    if not child.is_whole:
        raise ToolRefusal(SLOW)
    return printed.decode("utf-8", "surrogateescape")


def _is_checkout(root: Path) -> bool:
    return os.path.exists(root / ".git")


def _is_local(name: str) -> bool:
    return os.path.isabs(name) or name.startswith((".", "/", "~")) or re.match(r"[A-Za-z]:[\\/]", name) is not None


def _without_git(path: str) -> str:
    path = path.rstrip("/")
    return path.removesuffix("/.git").removesuffix(".git").rstrip("/") or path


def _by_path(root: Path) -> str:
    return f"path:{root}"
