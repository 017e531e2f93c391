"""The served page: answers to its own requests, and to no other."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.raw_requests import ODD_HEADS, RawRequest, exchange, head
from support.trace_samples import PNG, acted, ended, hostile, started, write

from codeplan.errors import UsageError
from codeplan.recording.events import CallAnswered, CallBegun, PictureSaved
from codeplan.report.pages.report_source import ReportSource
from codeplan.report.pages.server import MAX_TEXT_CHARACTERS, EpisodeCatalog, serve
from codeplan.types import Answer, Call

pytest.importorskip("uvicorn", reason="needs the extra web")


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """The port at which the folder is served."""
    ready: list[str] = []
    threading.Thread(target=serve, args=(EpisodeCatalog(ReportSource(folder)), 0, ready.append), daemon=True).start()
    for _ in range(1000):
        if ready:
            break
        time.sleep(0.01)
    yield int(ready[0].rstrip("/").rpartition(":")[2])


def ask(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    output = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return output


def data(port: int, path: str) -> Any:
    status, _, body = ask(port, path)
    assert status == 200, body
    return json.loads(body)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    hostile(folder / "0")
    write(
        folder / "1", started("long"), acted(text="x" * (MAX_TEXT_CHARACTERS + 1)), *(acted(str(n)) for n in range(400))
    )
    write(folder / "2", started(), PictureSaved(file="a.png"), PictureSaved(file="../b.png"), ended(started()))
    (folder / "2" / "a.png").write_bytes(PNG)
    (folder / "b.png").write_bytes(PNG)
    return folder


@pytest.fixture(scope="module")
def port(runs: Path) -> Iterator[int]:
    with served(runs) as at:
        yield at


def test_the_page_and_its_data_are_served(port: int) -> None:
    status, headers, body = ask(port, "/")
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    assert b'<meta name="codeplan-source" content="server">' in body
    assert len(data(port, "/api/overview")["episodes"]) == 3


def test_every_answer_has_the_security_headers(port: int) -> None:
    for path in ("/", "/api/overview", "/none"):
        _, headers, _ = ask(port, path)
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'sha256-")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("make", ODD_HEADS.values(), ids=ODD_HEADS.keys())
def test_a_request_from_elsewhere_is_refused(port: int, make: RawRequest) -> None:
    status, response = exchange(port, make("/api/overview", port))
    assert status == 0 or 400 <= status < 500
    assert b"access-control-allow" not in response.lower()


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}"])
def test_this_machine_s_names_are_served(port: int, host: str) -> None:
    own = host.format(port=port)
    assert ask(port, "/api/overview", Host=own, Origin=f"http://{own}", Sec_Fetch_Site="same-origin")[0] == 200


def test_nothing_can_be_written(port: int) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert ask(port, "/api/overview", method)[0] == 405


EPISODES = (
    "3 -1 x 0x0 +0 %C2%B2 %EF%BC%90 %00 0/pages/9 0/pages/0%0a 0/events/99999 0/events/-1 0/pictures/0 0/pictures/1e9"
)
SKILLS = "/api/skills /api/skills/household/any /api/skills/%00/%00 /api/skills/%ff/..%2f..%2fx"
ENDLESS = (f"/api/episodes/{part}{'9' * 5000}" for part in ("", "0/pages/", "0/events/"))
HEADER = "/api/skills/%0d%0aSet-Cookie:%20a=b/x"


@pytest.mark.parametrize(
    "path",
    [*(f"/api/episodes/{e}" for e in EPISODES.split()), *SKILLS.split(), *ENDLESS, HEADER, "/api/../../etc/passwd"],
)
def test_unknown_addresses_and_odd_numbers_answer_404(port: int, path: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert exchange(port, head("GET", path, port))[0] == 404
    assert capfd.readouterr() == ("", "")


def test_unchanged_data_is_not_sent_again(port: int) -> None:
    _, headers, _ = ask(port, "/api/episodes/1")
    assert ask(port, "/api/episodes/1", If_None_Match=headers["etag"])[0] == 304


def test_a_long_text_is_cut_and_sent_whole_on_request(port: int) -> None:
    first = data(port, "/api/episodes/1/pages/0")["items"][2]
    assert first["blocks"][1]["text"]["whole"] == MAX_TEXT_CHARACTERS + 1
    assert data(port, "/api/episodes/1/events/2")["blocks"][1]["text"] == "x" * (MAX_TEXT_CHARACTERS + 1)


def test_a_long_trace_is_sent_in_pages(port: int) -> None:
    head = data(port, "/api/episodes/1")
    assert (head["events"], head["pages"]) == (803, [0, 200, 400, 600, 800])
    assert [i["n"] for i in data(port, "/api/episodes/1/pages/4")["items"]] == [800, 801, 802]


def test_calls_that_are_open_at_once_have_their_own_answers(tmp_path: Path) -> None:
    begun = [CallBegun(id=n, call=Call("send", {"to": n})) for n in (1, 2, 3)]
    answers = [CallAnswered(id=n, answer=Answer(f"done {n}"), seconds=0.1) for n in (2, 1)]
    write(tmp_path / "a", started("a"), *begun, *answers)
    with served(tmp_path) as port:
        items = data(port, "/api/episodes/0/pages/0")["items"]
        alone = data(port, "/api/episodes/0/events/5")
    assert [[block["text"] for block in item["blocks"]] for item in items[4:]] == [
        ["send(to=2)", "done 2"],
        ["send(to=1)", "done 1"],
    ]
    assert alone["blocks"] == items[5]["blocks"]
    assert [item.get("answered", False) for item in items] == [False, True, True, False, False, False]


def test_only_pictures_of_the_run_are_served(port: int) -> None:
    status, headers, body = ask(port, "/api/episodes/2/pictures/1")
    assert (status, headers["content-type"], body) == (200, "image/png", PNG)
    assert ask(port, "/api/episodes/2/pictures/2")[0] == 404
    assert ask(port, "/api/episodes/0/pictures/14")[0] == 404


def test_new_episodes_appear_and_numbers_stay(tmp_path: Path) -> None:
    write(tmp_path / "b", started("b"))
    with served(tmp_path) as port:
        assert [e[2] for e in data(port, "/api/overview")["episodes"]] == ["b"]
        assert data(port, "/api/episodes/0")["events"] == 1
        (tmp_path / "b" / "trace.jsonl").unlink()
        write(tmp_path / "b", started("b"), acted(), ended(started("b")))
        write(tmp_path / "a", started("a"))
        assert [(e[2], e[4]) for e in data(port, "/api/overview")["episodes"]] == [("b", "success"), ("a", "open")]
        assert data(port, "/api/episodes/0")["events"] == 4


def test_a_port_that_is_taken_is_an_error(port: int, runs: Path) -> None:
    with pytest.raises(UsageError, match=f"port {port} cannot be used"):
        serve(EpisodeCatalog(ReportSource(runs)), port, print)
