"""Examines which of codeplan's requirements this machine meets. It changes nothing and uses the network only on
request.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

import msgspec

from codeplan.errors import CodeplanError
from codeplan.llm import endpoint
from codeplan.llm.openai_client import OpenAIModel
from codeplan.sandbox.protocol.frames import Layer
from codeplan.types import Finished, Outcome, Rejected

_SANDBOX = "Sandbox"
_LOCKED_RUN = "locked run"
_MONTY_RUN = "Monty run"
_NO_CAGE = "run on Linux with all layers, or in a container that has them; elsewhere Monty runs plans: codeplan[monty]"
_PROBE = """\
def solution(agent, start_from=1):
    if start_from <= 1:
        print('[Step 1] run')
        answer = 6 * 7
        assert answer == 42, f'Error in [Step 1]: {answer}. {agent.report()}'
"""


class Finding(msgspec.Struct, frozen=True):
    """The result of one examination. ``advice`` says what to do if something is wrong, otherwise it is empty.

    ``status`` is ``"ok"``, ``"missing"`` (a necessary thing) or ``"absent"`` (an optional one).
    """

    group: str
    name: str
    status: Literal["ok", "missing", "absent"]
    detail: str = ""
    advice: str = ""


def examine(*, online: bool = False) -> tuple[Finding, ...]:
    """All findings, in groups. Only with ``online`` is the model's endpoint called. Keys are never shown."""
    return (
        _python(),
        *_packages(),
        *_sandbox(),
        *_settings_file(),
        *_endpoint(online),
        *_extras(),
        _browser(),
        _java(),
    )


def is_safe(findings: tuple[Finding, ...]) -> bool:
    """Whether a plan runs here with every necessary layer of the sandbox in place."""
    return all(f.status != "missing" for f in findings if f.group == _SANDBOX)


def _python() -> Finding:
    detail = f"{platform.python_version()} ({platform.system()} {platform.release()}, {platform.machine()})"
    return Finding("Core", "Python", "ok", detail)


def _packages() -> Iterator[Finding]:
    for requirement in ["codeplan", *(r for r in _requirements() if "extra" not in r)]:
        name = _name(requirement)
        if there := _version(name):
            yield Finding("Core", name, "ok", there)
        else:
            yield Finding("Core", name, "missing", "not installed", f"install it: pip install '{requirement}'")


def _extras() -> Iterator[Finding]:
    """The extras and the packages they lack. An extra that only combines others (``all``) is left out."""
    members: dict[str, list[str]] = {}
    for requirement in _requirements():
        if marker := re.search(r"extra\s*==\s*['\"]([\w.-]+)['\"]", requirement):
            members.setdefault(marker[1], []).append(_name(requirement))
    for extra, names in sorted(members.items()):
        if set(names) == {"codeplan"}:
            continue
        lacking = [name for name in names if not _version(name)]
        if lacking:
            advice = f"if you want it: pip install 'codeplan[{extra}]'"
            yield Finding("Extras", extra, "absent", f"lacks {', '.join(lacking)}", advice)
        else:
            yield Finding("Extras", extra, "ok", "installed")


def _browser() -> Finding:
    """The browser for MiniWoB++'s pages."""
    from codeplan.envs.miniwob import browser

    try:
        return Finding("Extras", "browser", "ok", str(browser.find_browser()))
    except CodeplanError as e:
        return Finding("Extras", "browser", "absent", "for miniwob", f"if you want it: {e}")


def _java() -> Finding:
    """The Java for ScienceWorld's engine."""
    from codeplan.envs.scienceworld import engine

    try:
        java = engine.require_java()
    except CodeplanError as e:
        return Finding("Extras", "java", "absent", "for scienceworld", f"if you want it: {e}")
    return Finding("Extras", "java", "ok", f"{java}, version {engine.java_version(java)}")


def _requirements() -> list[str]:
    try:
        return requires("codeplan") or []
    except PackageNotFoundError:
        return []


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0] or requirement


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _sandbox() -> Iterator[Finding]:
    """The layers of the cage, and a real run of a plan on this machine's backend."""
    from codeplan.sandbox import Sandbox, probe_layers

    try:
        for layer in probe_layers():
            yield _layer(layer)
    except CodeplanError as e:
        yield Finding(_SANDBOX, "cage", "missing", str(e), _NO_CAGE)
    try:
        sandbox = Sandbox()
        name = _MONTY_RUN if sandbox.uses_monty else _LOCKED_RUN
        yield _trial_run(name, sandbox.run(_PROBE, _ProbeAgent(), str))
    except CodeplanError as e:
        yield Finding(_SANDBOX, _LOCKED_RUN, "missing", str(e), _NO_CAGE)


def _trial_run(name: str, outcome: Outcome | Rejected) -> Finding:
    if isinstance(outcome, Finished):
        return Finding(_SANDBOX, name, "ok", f"a trivial plan took {outcome.usage.wall * 1000:.1f} ms")
    return Finding(_SANDBOX, name, "missing", f"a trivial plan ended as {type(outcome).__name__}", "report this")


def _layer(layer: Layer) -> Finding:
    if layer.present:
        return Finding(_SANDBOX, layer.name, "ok", layer.detail)
    if layer.optional:
        advice = "one wall less; the kernel or the container does not allow it"
        return Finding(_SANDBOX, layer.name, "absent", layer.detail, advice)
    advice = "without it, plans run in Monty, or with --allow-weak-sandbox"
    return Finding(_SANDBOX, layer.name, "missing", layer.detail, advice)


class _ProbeAgent:
    def report(self) -> str:
        """An empty report."""
        return ""


def _settings_file() -> Iterator[Finding]:
    """Whether all settings in the current folder's settings file, if there is one, take effect."""
    from codeplan.runner.settings_files import load_config

    try:
        config = load_config(Path(), os.environ)
    except CodeplanError as e:
        yield Finding("Model", "settings", "missing", str(e), "correct the file or the variable")
        return
    if config.ignored:
        advice = "look at the file; if you want its settings: codeplan trust"
        yield Finding(
            "Model", "settings", "absent", f"{config.file} is not trusted: {', '.join(config.ignored)}", advice
        )
    elif config.file:
        yield Finding("Model", "settings", "ok", f"{config.file} in this folder")


def _endpoint(online: bool) -> Iterator[Finding]:
    yield Finding("Model", "scripted", "ok", "a stand-in that needs no key and no network")
    variable = next((n for n in ("OPENAI_BASE_URL", "OPENAI_API_BASE") if os.environ.get(n)), None)
    try:
        url = endpoint.resolve_base_url()
        key = endpoint.resolve_key()
    except CodeplanError as e:
        yield Finding("Model", "endpoint", "missing", str(e), "correct OPENAI_BASE_URL and OPENAI_API_KEY")
        return
    source = f"from {variable}" if variable else "the default"
    yield Finding("Model", "endpoint", "ok", f"{endpoint.without_credentials(url)} ({source})")
    if key:
        yield Finding("Model", "key", "ok", "found in OPENAI_API_KEY")
    else:
        advice = "" if variable else "for a real model, set OPENAI_API_KEY, or OPENAI_BASE_URL for your own server"
        yield Finding("Model", "key", "absent", "OPENAI_API_KEY is not set", advice)
    if online and (key or variable):
        yield _answer()


def _answer() -> Finding:
    try:
        OpenAIModel("any", max_retries=0, timeout=10.0).ping()
    except CodeplanError as e:
        return Finding("Model", "answer", "missing", str(e), "check the two lines above")
    return Finding("Model", "answer", "ok", "the endpoint answers")
