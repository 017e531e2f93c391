"""A real browser for the tests of pages: what a person does in it, and what its console says."""

from __future__ import annotations

import base64
import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codeplan.envs.miniwob.browser import DevToolsConnection, find_browser

SCRIPT = 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1'
FLAGS = ("--headless", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage")
KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "Tab": ("Tab", 9, "")}
SECONDS = 20.0


class Chromium:
    """The browser's process; ``open`` gives a page. Use it as a context."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="codeplan-pages-", ignore_cleanup_errors=True)
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        command = [str(find_browser()), *FLAGS, *root, f"--user-data-dir={self._folder.name}", "about:blank"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
        self._process = subprocess.Popen(["/bin/sh", "-c", SCRIPT, "sh", *command], start_new_session=True, **pipes)
        assert self._process.stdin and self._process.stdout
        self.wire = DevToolsConnection(self._process.stdin, self._process.stdout)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *exception: object) -> None:
        self.wire.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()

    def open(self, address: str, **look: Any) -> Tab:
        """A new page at an address; ``look`` as for ``Tab.look``."""
        tab = Tab(self.wire)
        if look:
            tab.look(**look)
        tab.go(address)
        return tab


class Tab:
    """A page. ``complaints`` are the errors and warnings that its console and its security policy told."""

    def __init__(self, wire: DevToolsConnection) -> None:
        self._wire = wire
        self.complaints: list[str] = []
        self._loader = ""  # of the document that has loaded last
        target = wire.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = wire.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        wire.event_handlers[self._session] = self._hear
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._wire.wait_for_answer(self._wire.send(method, self._session, **parameters), method)

    def go(self, address: str) -> None:
        """Load an address, and wait until what it shows is there."""
        loader = self.call("Page.navigate", url=address).get(
            "loaderId"
        )  # none where only what follows the # is another
        self._shown(lambda: loader in (None, self._loader), address)

    def reload(self) -> None:
        """Load the page again, and wait until what it shows is there."""
        before = self._loader
        self.call("Page.reload")
        self._shown(lambda: self._loader != before, "the page, again,")

    def _shown(self, loaded: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + SECONDS
        while not loaded():
            assert time.monotonic() < end, f"{what} does not load"
            time.sleep(0.01)
        self.until("document.getElementById('main')?.getAttribute('aria-busy') === 'false'")

    def look(self, width: int = 1280, height: int = 900, scheme: str = "light", scale: float = 1) -> None:
        """Set the window's size, and whether the system is light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise's, when it comes."""
        asked = {"expression": script, "returnByValue": True, "awaitPromise": True}
        answer = self.call("Runtime.evaluate", **asked)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"].get("exception", {}).get("description", script))
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + SECONDS
        while not self.run(f"!!({condition})"):
            assert time.monotonic() < end, f"it does not come to be: {condition}"
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """Click on the middle of an element, as a mouse does."""
        at = self.run(
            f"(() => {{ const e = document.querySelector({selector!r}); if (!e) return null;"
            " e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getClientRects()[0];"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        assert at, f"there is no {selector}"
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key."""
        name, code, text = KEYS.get(key) or (key, ord(key.upper()), key)
        about = {"key": name, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)

    def text(self, selector: str = "body") -> str:
        """The text of an element, as it is seen."""
        return str(self.run(f"document.querySelector({selector!r})?.innerText ?? ''"))

    def count(self, selector: str) -> int:
        return int(self.run(f"document.querySelectorAll({selector!r}).length"))

    def picture(self, file: Path, whole: bool = True) -> None:
        """Write a picture of the page."""
        made = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(made["data"]))

    def _hear(self, method: str, about: Any) -> None:
        if method == "Page.lifecycleEvent" and about["name"] == "load":
            self._loader = about["loaderId"]
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(about["exceptionDetails"].get("exception", {}).get("description", about)))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a)) for a in about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.complaints.append(about["entry"]["text"])
