"""Starts a browser that cannot outlive this process, reach a network, or read this process's environment."""

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
"""The browser reads its pipe from descriptor 3 and writes to 4. The shell removes the profile when it exits."""

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
    # Draw frames at once instead of 60 per second: mouse moves wait for a frame.
    "--disable-gpu-vsync",
    "--disable-frame-rate-limit",
    # Block all network access, also on systems without network namespaces.
    "--block-new-web-contents",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)

_NO_NETWORK_COMMANDS = (("unshare", "--net"), ("unshare", "--user", "--map-current-user", "--net"))
"""Commands that start a program without a network."""

_EXIT_SECONDS = 20.0
"""Time limit for the browser to exit."""


class BrowserProcess:
    """A running browser, the connection to it, and its temporary profile folder.

    Raises: EnvironmentFailure if it does not start.
    """

    def __init__(self, program: Path) -> None:
        self.profile_folder = folder = tempfile.mkdtemp(prefix="codeplan-browser-")
        with tempfile.TemporaryFile() as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "sh", folder, *_without_network(), str(program), *_flags(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
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
                raise EnvironmentFailure(f"the browser {program} does not start: {_last_line(log)}") from None

    @property
    def pid(self) -> int:
        """The id of the shell that started the browser and waits for it; also their process group."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the browser runs and its connection is open."""
        return self.connection.is_open and self._process.poll() is None

    def close(self) -> None:
        """Close the browser; kill it if it does not exit. Safe to call twice."""
        with contextlib.suppress(BrowserGone):
            self.connection.send("Browser.close")
        try:
            self._process.wait(_EXIT_SECONDS / 10)
        except subprocess.TimeoutExpired:
            self.kill()
        self.connection.close()

    def kill(self) -> None:
        """Kill the browser and the shell that waits for it, and remove the profile."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(_EXIT_SECONDS)
        shutil.rmtree(self.profile_folder, ignore_errors=True)

    def detach(self) -> None:
        """In a forked process, release the parent's browser, which must not wait for this process to exit."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.returncode = 0


def _flags(folder: str) -> list[str]:
    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chrome's own sandbox refuses to run for root
    return [*_FLAGS, *root, f"--user-data-dir={folder}", "about:blank"]


def _environment(folder: str) -> dict[str, str]:
    """A minimal environment: this process's own may hold keys."""
    return {"HOME": folder, "TMPDIR": folder, "PATH": os.defpath, "LANG": "en_US.UTF-8", "TZ": "UTC"}


@cache
def _without_network() -> tuple[str, ...]:
    """The command prefix that removes the network; empty if this system does not permit it."""
    if not shutil.which("unshare"):
        return ()
    for prefix in _NO_NETWORK_COMMANDS:
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return prefix
    return ()


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it says nothing"
