"""The browser of MiniWoB++: isolation of pages, crash recovery, cleanup."""

import gc
import http.server
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from support.miniwob_pages import folder_of_pages, needs_browser

from codeplan.envs.miniwob import browser
from codeplan.envs.miniwob.actions import BrowserAction
from codeplan.envs.miniwob.environment import MiniWob
from codeplan.envs.miniwob.page import PageSetup, RecoveringPageSession, SharedBrowser, close_all_browsers
from codeplan.envs.miniwob.tasks import PageFolder
from codeplan.errors import EnvironmentFailure

pytestmark = needs_browser

ACTIONS = ("click_xpath (//label)[1]", "click_xpath (//label)[2]", "type x", "click_xpath (//label)[3]")


@pytest.fixture
def env():
    env = MiniWob()
    yield env
    env.close()


def process():
    """The process of the shared browser."""
    shared, page = SharedBrowser.open_page(browser.find_browser(), PageFolder().folder)
    shared.return_page(page)
    return shared.process


def play(env, between=lambda i: None):
    answers = [env.reset(env.task("click-checkboxes-large", 3))]
    for i, action in enumerate(ACTIONS):
        between(i)
        answers.append(env.step(action))
    return answers


def members(leader):
    """The processes in the session that a process leads."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(stat.parent.name)
    return found


def wait_until(holds, seconds=10.0):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


# ------------------------------------------------------------------ isolation of pages


class _Listener(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def listener():
    server = http.server.HTTPServer(("127.0.0.1", 0), _Listener)
    server.requests = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_page_reaches_no_server_and_no_file_outside_its_folder(tmp_path, listener):
    (tmp_path / "secret.txt").write_text("the secret")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "link.txt").symlink_to(tmp_path / "secret.txt")
    port, secret = listener.server_port, (tmp_path / "secret.txt").as_uri()
    area = f"""<img src="http://127.0.0.1:{port}/image"><img src="http://localhost:{port}/image">
        <iframe src="{secret}"></iframe><iframe src="../link.txt"></iframe><iframe src="http://127.0.0.1:{port}/frame"></iframe>
        <p id="out"></p><button onclick="
            const say = (word) => {{ out.textContent += word + ' '; }};
            fetch('http://127.0.0.1:{port}/fetch').then(() => say('FETCHED'), () => say('refused'));
            fetch('{secret}').then(() => say('READ'), () => say('refused'));
            const socket = new WebSocket('ws://127.0.0.1:{port}/socket');
            socket.onopen = () => say('OPENED'); socket.onerror = () => say('refused');
            say(window.open('about:blank') ? 'POPUP' : 'refused');
            for (const frame of frames) try {{ say(frame.document.body.textContent); }} catch {{ say('refused'); }}
            navigator.sendBeacon('http://127.0.0.1:{port}/beacon');">go</button>"""
    env = MiniWob(pages=folder_of_pages(tmp_path / "pages", page=area))
    env.reset(env.task("page", 0))
    env.step("click_xpath //button")
    assert wait_until(lambda: env.step("type x").text.count("refused ") == 4)
    answers = env.step("type x").text.partition('<p id="out">')[2].partition("</p>")[0]
    assert set(answers.split()) == {"refused"}
    assert listener.requests == []
    env.close()


@pytest.mark.parametrize("where", ["file:///etc/passwd", "http://127.0.0.1:9/", "other.html", "chrome://crash"])
def test_a_page_cannot_navigate_away(tmp_path, where):
    env = MiniWob(pages=folder_of_pages(tmp_path, page=f"<a href='{where}'>go</a>", other="<p>other</p>"))
    before = env.reset(env.task("page", 0)).text.partition("Page:")[2]
    after = env.step("click_xpath //a").text.partition("Page:")[2]
    assert after.replace(' focused=""', "") == before
    env.close()


def test_dialogs_are_answered(tmp_path):
    area = (
        "<button onclick=\"alert('a'); out.textContent = confirm('b') + ' ' + prompt('c')\">go</button><p id='out'></p>"
    )
    env = MiniWob(pages=folder_of_pages(tmp_path, page=area))
    env.reset(env.task("page", 0))
    assert '<p id="out">true </p>' in env.step("click_xpath //button").text
    env.close()


def test_surrogates_on_a_page_are_replaced_and_never_typed(tmp_path):
    area = (
        "<button onclick=\"this.textContent = '\\ud83d!\\ud83d\\ude42'\">go</button><p>"
        + "\U0001f642" * 60_000
        + "</p>"
    )
    env = MiniWob(pages=folder_of_pages(tmp_path, begin="query.textContent = 'Do \\udc00'", page=area))
    assert env.reset(env.task("page", 0)).text.startswith("Task: Do \ufffd\n")
    assert ">\ufffd!\U0001f642</button>" in env.step("click_xpath //button").text
    assert env.step("type \ud83d").text.startswith("Last action error: The action type takes whole characters")
    env.close()


@pytest.mark.parametrize(
    "taken",
    [
        "window.codeplan = {begin: () => ({}), find: () => ({count: 1}), placeSoon: () => ({}), state: () => ({})}",
        "codeplan.placeSoon = () => ({}); delete window.codeplan; codeplan.clock.advance = 0",
        "Object.defineProperty(window, 'codeplan', {value: 0})",
    ],
)
def test_a_page_cannot_replace_codeplan_s_functions(tmp_path, taken):
    area = '<button onclick="core.endEpisode(1)">go</button>'
    head = f"<script>{taken}</script><script>let codeplan = 0</script>"
    env = MiniWob(pages=folder_of_pages(tmp_path, head=head, page=area))
    assert "go</button>" in env.reset(env.task("page", 0)).text
    assert env.step("click_xpath //button").success
    env.close()


def test_a_failing_page_is_an_environment_failure_and_the_next_episode_works(tmp_path):
    env = MiniWob(pages=folder_of_pages(tmp_path, begin="if (seed) throw new Error('broken')", page="<p></p>"))
    with pytest.raises(EnvironmentFailure, match=r"page\.html failed in begin: Error: broken"):
        env.reset(env.task("page", 1))
    assert env.reset(env.task("page", 0))
    env.close()


def test_the_browser_sees_nothing_of_this_process_s_environment(env, monkeypatch):
    close_all_browsers()
    monkeypatch.setenv("OPENAI_API_KEY", "a secret")
    env.reset(env.task("click-test", 0))
    environments = [_read(p, "environ") for p in members(process().pid)]
    assert any(environments)
    assert not any(b"a secret" in e for e in environments)


# ------------------------------------------------------------------ crashes


def test_a_browser_crash_during_an_episode_is_recovered_by_replay(env):
    undisturbed = play(env)
    for at in range(len(ACTIONS)):
        assert play(env, lambda i, at=at: process().kill() if i == at else None) == undisturbed


def test_a_browser_crash_between_episodes_is_recovered(env):
    undisturbed = play(env)
    process().kill()
    assert play(env) == undisturbed


def test_a_page_crash_is_recovered_by_replay(env):
    undisturbed = play(env)

    def crash(i):
        if i == 2:
            renderers = [int(p) for p in members(process().pid) if b"--type=renderer" in _command(p)]
            killed = [_kill(renderer) for renderer in renderers]
            assert any(killed)

    assert play(env, crash) == undisturbed


@pytest.mark.parametrize("loop", ["while (true) {}", "const f = () => Promise.resolve().then(f); f()"])
def test_an_endless_page_ends_with_a_sentence_and_the_next_episode_works(tmp_path, loop):
    pages = folder_of_pages(tmp_path, page=f"<button onclick='{loop}'>go</button>")
    session = RecoveringPageSession(browser.find_browser(), PageFolder(pages).folder, timeout=3)
    setup = PageSetup(PageFolder(pages).url("page"), 0, "train")
    for _ in range(2):
        session.begin(setup)
        with pytest.raises(EnvironmentFailure, match=r"did not answer \S+ within 3 s; it may be in an endless loop"):
            session.act(BrowserAction("click_xpath", "//button"))
    session.close()


NEST = "let e = area; for (let i = 0; i < {}; i++) e = e.appendChild(document.createElement('u')); e.textContent = 'x'"


def test_a_deeply_nested_element_can_be_found_and_clicked(tmp_path):
    env = MiniWob(pages=folder_of_pages(tmp_path, begin=NEST.format(500), page="<p>x</p>"))
    assert len(env.reset(env.task("page", 0)).text) < 10_000
    assert '"tag":"u"' in env.step("find //u[text()='x']").text
    assert env.step("click_xpath //u[text()='x']").text.startswith("Page:")
    env.close()


def test_a_page_nested_too_deeply_for_the_browser_ends_with_a_sentence(tmp_path):
    env = MiniWob(pages=folder_of_pages(tmp_path, begin=f"if (seed) {{ {NEST.format(100_000)} }}", page="<p>x</p>"))
    env.reset(env.task("page", 1))
    with pytest.raises(EnvironmentFailure, match=r"^the browser or the page crashed before it answered \S+$"):
        env.step("find //u[text()='x']")
    assert env.reset(env.task("page", 0))
    assert '"tag":"p"' in env.step("find //p").text
    env.close()


def _kill(number):
    """Whether the process was there to be killed: the browser ends spare renderers by itself."""
    try:
        os.kill(number, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _command(number):
    return _read(number, "cmdline")


def _read(number, what):
    try:
        return Path(f"/proc/{number}/{what}").read_bytes()
    except OSError:
        return b""


def test_a_browser_that_does_not_start_is_reported_with_its_output(tmp_path):
    broken = tmp_path / "browser"
    broken.write_text("#!/bin/sh\necho 'no such display' >&2\nexit 1\n")
    broken.chmod(0o755)
    env = MiniWob(browser=str(broken))
    with pytest.raises(EnvironmentFailure, match="does not start: no such display"):
        env.reset(env.task("click-test", 0))


# ------------------------------------------------------------------ cleanup


def test_one_browser_serves_all_environments_until_it_is_closed():
    environments = [MiniWob() for _ in range(3)]
    for env in environments:
        env.reset(env.task("click-test", 0))
    one = process()
    assert len([p for p in members(one.pid) if b"--type=" not in _command(p) and b"headless" in _command(p)]) <= 3
    for env in environments:
        env.close()
    assert one.is_alive
    close_all_browsers()
    assert wait_until(lambda: not members(one.pid))
    assert not Path(one.profile_folder).exists()


HOST = """
import sys, time
from codeplan.envs.miniwob import MiniWob
from codeplan.envs.miniwob.page import _shared
env = MiniWob()
env.reset(env.task("click-test", 0))
process = next(iter(_shared.values())).process
print(process.pid, process.profile_folder, flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, None])
def test_a_browser_leaves_nothing_behind_when_its_host_exits(end):
    with subprocess.Popen([sys.executable, "-c", HOST], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as host:
        leader, folder = host.stdout.readline().split()
        assert members(int(leader))
        host.send_signal(end) if end else host.stdin.close()
        host.wait(20)
        assert wait_until(lambda: not members(int(leader)))
        assert wait_until(lambda: not Path(os.fsdecode(folder)).exists())


def _in_child(queue):
    env = MiniWob()
    queue.put(play(env))
    env.close()
    close_all_browsers()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_a_browser_of_its_own(env):
    undisturbed = play(env)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=30) == undisturbed
    child.join(30)
    assert play(env) == undisturbed
    gc.collect()


def test_many_threads_share_the_browser():
    alone = MiniWob()
    undisturbed = play(alone)
    alone.close()

    def run(_):
        with closing(MiniWob()) as env:
            return play(env)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(8))) == [undisturbed] * 8
