"""The public MCP conformance suite against a running server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from e2e.conformance_table import APPLYING, EXEMPT_CHECKS, NOT_APPLYING, SUITE, SUITE_VERSION
from server.processes import TOKEN, listening, made_data_dir, port_of, serving

BUILD = Path(__file__).resolve().parents[2] / "build" / "conformance"
NODE_MAJOR = 22  # what the suite needs without saying so
NPM_LIMIT_S = 600
SUITE_LIMIT_S = 300
SCENARIO = re.compile(r"^ +- (\S+) \[")


@pytest.fixture(scope="module")
def suite() -> list[str]:
    """The command that runs the suite, installed below build/ with a Node of its own where the machine's is too old."""
    program = BUILD / "node_modules" / SUITE / "dist" / "index.js"
    package = program.parents[1] / "package.json"
    if not package.exists() or json.loads(package.read_text())["version"] != SUITE_VERSION:
        _npm_install(f"{SUITE}@{SUITE_VERSION}")
    node = shutil.which("node") or "node"
    if _node_major(node) < NODE_MAJOR:
        node = str(BUILD / "node_modules" / ".bin" / "node")
        if not Path(node).exists():
            _npm_install(f"node@{NODE_MAJOR}")
    return [node, str(program)]


def _npm_install(package: str) -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(BUILD), package]
    done = subprocess.run(command, capture_output=True, text=True, timeout=NPM_LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr


def _node_major(node: str) -> int:
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return int(version.strip().lstrip("v").partition(".")[0])


class TokenProxy(BaseHTTPRequestHandler):
    """Passes requests on with the token added; our own Host and Origin become the server's, foreign ones stay foreign."""

    upstream_port: int

    def do_POST(self) -> None:
        own = self.connection.getsockname()[1]
        headers = {name.lower(): value for name, value in self.headers.items() if name.lower() != "connection"}
        for name in headers.keys() & {"host", "origin"}:
            headers[name] = headers[name].replace(f":{own}", f":{self.upstream_port}")
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        with closing(HTTPConnection("127.0.0.1", self.upstream_port, timeout=SUITE_LIMIT_S)) as upstream:
            upstream.request(self.command, self.path, body, {**headers, "authorization": f"Bearer {TOKEN}"})
            response = upstream.getresponse()
            self.send_response(response.status)
            for name, value in response.getheaders():
                if name.lower() not in ("transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.end_headers()  # HTTP/1.0: the body ends with the connection
            while piece := response.read1():
                self.wfile.write(piece)

    do_GET = do_DELETE = do_OPTIONS = do_POST

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the suite finds a server that wants no token."""
    with listening() as listener, serving(made_data_dir(tmp_path_factory.mktemp("conformance")), listener):
        handler = type("Proxy", (TokenProxy,), {"upstream_port": port_of(listener)})
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as proxy:
            thread = threading.Thread(target=proxy.serve_forever)
            thread.start()
            yield f"http://127.0.0.1:{proxy.server_address[1]}/mcp"
            proxy.shutdown()
            thread.join()


def test_every_scenario_of_the_suite_is_listed_once(suite: list[str]) -> None:
    listing = subprocess.run([*suite, "list", "--server"], capture_output=True, text=True, check=True).stdout
    scenarios = {match[1] for line in listing.splitlines() if (match := SCENARIO.match(line))}
    assert not APPLYING.keys() & NOT_APPLYING.keys()
    assert scenarios == APPLYING.keys() | NOT_APPLYING.keys()


@pytest.mark.parametrize("scenario", APPLYING)
def test_a_scenario_that_applies_passes(scenario: str, suite: list[str], url: str, tmp_path: Path) -> None:
    command = [*suite, "server", "--url", url, "--scenario", scenario, "--output-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SUITE_LIMIT_S, check=False)
    results = list(tmp_path.glob("*/checks.json"))
    assert results, done.stdout + done.stderr
    checks = [check for result in results for check in json.loads(result.read_text())]
    failed = {check["id"]: check.get("errorMessage") for check in checks if check["status"] == "FAILURE"}
    assert not {name: message for name, message in failed.items() if name not in EXEMPT_CHECKS.get(scenario, {})}
    assert failed.keys() == EXEMPT_CHECKS.get(scenario, {}).keys(), "an excused check passes: it needs no excuse"
    assert any(check["status"] in ("SUCCESS", "WARNING") for check in checks)
