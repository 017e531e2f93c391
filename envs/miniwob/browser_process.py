"""Starting a browser so that it cannot outlive this process, reach a network, or see what is none of its business."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import IO

from codeplan.envs.miniwob.devtools import BrowserGone, DevToolsConnection
from codeplan.errors import EnvironmentFailure

_SCRIPT = 'folder=$1; shift; "$@" 3<&0 4>&1 </dev/null >/dev/null; rm -rf -- "$folder"'
"""The browser reads its pipe from 3 and writes to 4; its profile goes when it has ended, whoever sees that."""

_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-breakpad",
    "--disable-dev-shm-usage",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,PaintHolding",
    "--hide-scrollbars",
    "--mute-audio",
    "--lang=en-US",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    # Frames come at once, not 60 a second: mouse moves wait for one.
    "--disable-gpu-vsync",
    "--disable-frame-rate-limit",
    # No network by whatever road, even where the system cannot take it away.
    "--block-new-web-contents",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)

_CUTS = (("unshare", "--net"), ("unshare", "--user", "--map-current-user", "--net"))
"""Ways to start a program where there is no network."""

_SECONDS = 20.0
"""For a browser to start, and to end."""


class BrowserProcess:
    """A browser's process, the wire to it, and the ``folder`` of its profile, which goes when it ends.

    Raises EnvironmentFailure where it does not start.
    """

    def __init__(self, program: Path) -> None:
        self.profile_folder = folder = tempfile.mkdtemp(prefix="codeplan-browser-")
        with tempfile.TemporaryFile() as said:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "sh", folder, *_without_network(), str(program), *_flags(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                bufsize=0,
                env=_environment(folder),
                start_new_session=True,
            )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self.connection = DevToolsConnection(self._process.stdin, self._process.stdout)
            try:
                self.connection.call("Browser.getVersion")
            except EnvironmentFailure:
                self.close()
                raise EnvironmentFailure(f"the browser {program} does not start: {_last_line(said)}") from None

    @property
    def pid(self) -> int:
        """Of the process that has started the browser, and waits for it; it leads their process group."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the browser still runs, and can be spoken to."""
        return self.connection.is_open and self._process.poll() is None

    def close(self) -> None:
        """End it: by its own way out, or else by force. Safe to call twice."""
        with contextlib.suppress(BrowserGone):
            self.connection.send("Browser.close")
        try:
            self._process.wait(_SECONDS / 10)
        except subprocess.TimeoutExpired:
            self.kill()
        self.connection.close()

    def kill(self) -> None:
        """End it by force, and whoever was to clean up after it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(_SECONDS)
        shutil.rmtree(self.profile_folder, ignore_errors=True)

    def detach(self) -> None:
        """In a process forked from the one that started it: it is not ours, and must not wait for us to end."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.returncode = 0


def _flags(folder: str) -> list[str]:
    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chrome's own sandbox refuses to run for root
    return [*_FLAGS, *root, f"--user-data-dir={folder}", "about:blank"]


def _environment(folder: str) -> dict[str, str]:
    """Nothing of this process's own, which may hold keys."""
    return {"HOME": folder, "TMPDIR": folder, "PATH": os.defpath, "LANG": "en_US.UTF-8", "TZ": "UTC"}


@cache
def _without_network() -> tuple[str, ...]:
    """The words before a command that take the network from it; none where this system lets nobody do so."""
    if not shutil.which("unshare"):
        return ()
    tries = (subprocess.run([*cut, "true"], capture_output=True, check=False).returncode == 0 for cut in _CUTS)
    return next((cut for cut, works in zip(_CUTS, tries, strict=True) if works), ())


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it says nothing"
