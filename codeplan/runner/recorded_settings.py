"""Which settings an episode that continues from a recording takes from it, and which the user must give again.

A recording may come from a stranger. ``codeplan.plugins.Trust`` says what it may set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from codeplan import plugins
from codeplan.budget import Budget
from codeplan.errors import UsageError
from codeplan.llm import endpoint
from codeplan.llm.routing import ROUTES
from codeplan.methods.fixed_plan import FixedPlan
from codeplan.plugins import MAX_FOREIGN_CHARS, SettingSpec
from codeplan.recording.events import EpisodeStarted
from codeplan.recording.redaction import is_secret_name
from codeplan.runner import models
from codeplan.untrusted.terminal import parser_reason
from codeplan.untrusted.values import in_quotes

MODEL_NAMES = (*ROUTES, "embeddings")
"""Settings that name a model. A recorded name is used at the endpoint that the user configured, if there is one."""

_ADDRESS_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_MAX_SHOWN = 80


class _RecordedRoute(msgspec.Struct):
    """A header's data about the model of one purpose."""

    model: str


class _RecordedModel(msgspec.Struct):
    """The part of a header's data about its model that codeplan reads."""

    main_model: str | None = None
    base_url: str | None = None
    routes: dict[str, _RecordedRoute] = {}


def main_model_name(header: EpisodeStarted) -> str:
    """The main model's name; ``header.model`` also names the models for other purposes.

    Raises: UsageError: the header's model settings are malformed, or the name has an address in it.
    """
    _recorded_model(header)
    name = recorded_model_name(header)
    if not _is_plain_name(name):
        raise UsageError(f"the trace names the model {in_quotes(name)}; a model from a trace has a plain name")
    return name


def choose_settings(
    header: EpisodeStarted,
    participants: Mapping[str, object],
    given: Mapping[str, Any],
    configured: Mapping[str, Any],
    *,
    live: bool,
) -> dict[str, Any]:
    """The settings of an episode that continues from a recording, or replays it (not ``live``).

    ``participants`` are ``env``, ``method`` and ``model``, by name, as objects, or FixedPlan as a class. ``given`` are
    the user's settings for this episode. Of the settings that are ``configured`` for models, the trusted ones apply,
    and so does a recordable one that equals the recorded value. Raises: UsageError: the recording sets an unknown
    setting or a wrong value, or a setting that only the user can set and has not set.
    """
    accepted = {name: spec for part, who in participants.items() for name, spec in _specs(part, who).items()}
    configured = {n: v for n, v in configured.items() if _is_usable(accepted.get(n), v, header.settings.get(n))}
    named = {"env": header.env, "method": header.method, "model": recorded_model_name(header)}
    replaced = {part for part, who in participants.items() if not isinstance(who, str)}
    chosen: dict[str, Any] = {}
    missing: dict[str, Any] = {}
    # any other model is the user's own, or has an address, which is configured or missing
    offline = participants["model"] == "scripted" and not _names_endpoint()
    for name, value in _with_address(header, accepted, live).items():
        if name in given or name in configured:
            continue
        if name not in accepted:
            _check_known(name, named, replaced)
            continue
        accepted[name].check(value, "the trace")
        if _may_take(accepted[name], value, live=live, offline=offline):
            chosen[name] = value
        elif _must_repeat(accepted[name], value, live):
            missing[name] = _without_defaults(accepted[name], value)
    if missing:
        raise UsageError(_missing_message(missing))
    return {**chosen, **configured, **given}


def check_budget(recorded: Budget, own: Budget) -> None:
    """Check that a live episode's recorded budget stays within the user's own.

    Raises: UsageError: a limit exceeds the user's.
    """
    exceeded = {
        name: (limit, most)
        for name in Budget.__struct_fields__
        if (most := getattr(own, name)) is not None and ((limit := getattr(recorded, name)) is None or limit > most)
    }
    if exceeded:
        limits = ", ".join(f"{name}={_limit_text(r)} (yours: {m:g})" for name, (r, m) in exceeded.items())
        ways = " ".join(_budget_option(name, limit) for name, (limit, _) in exceeded.items())
        raise UsageError(f"the budget in the trace exceeds your own: {limits}; allow it with {ways}")


def _limit_text(limit: float | None) -> str:
    return "unlimited" if limit is None else str(limit)


def _budget_option(name: str, limit: float | None) -> str:
    text = "null" if limit is None else str(limit)
    if name == "refinements":
        return f"the variable CODEPLAN_BUDGET_REFINEMENTS={text}"
    return f"--max-{name.replace('_', '-')} {text}"


def _recorded_model(header: EpisodeStarted) -> _RecordedModel:
    try:
        return msgspec.convert(header.model_settings, _RecordedModel)
    except msgspec.ValidationError as e:
        raise UsageError(f"the trace's header is damaged: its model_settings: {parser_reason(e)}") from None


def recorded_model_name(header: EpisodeStarted) -> str:
    """The main model's name as the header has it; it may be anything."""
    name = header.model_settings.get("main_model")
    return name if isinstance(name, str) else header.model


def _specs(part: str, who: object) -> dict[str, SettingSpec]:
    """The settings of a participant that is given by name; for FixedPlan, its declared settings."""
    if who is FixedPlan:
        return {spec.name: spec for spec in plugins.setting_specs(FixedPlan) if spec.trust}
    if not isinstance(who, str):
        return {}
    if part == "model":
        found = models.setting_specs(who)
    else:
        found = plugins.setting_specs(
            plugins.load_factory("codeplan.envs" if part == "env" else "codeplan.methods", who)
        )
    return {spec.name: spec for spec in found}


def _is_usable(spec: SettingSpec | None, configured: object, recorded: object) -> bool:
    """Whether a configured setting applies to the episode: it is trusted, or confirms what was recorded."""
    if spec is None:
        return False
    return spec.trust == "trusted" or (spec.trust == "recordable" and configured == recorded)


def _names_endpoint() -> bool:
    """Whether a variable of the user names the models' endpoint."""
    return any(os.environ.get(name) for name in _ADDRESS_VARIABLES)


def _with_address(header: EpisodeStarted, accepted: Mapping[str, SettingSpec], live: bool) -> dict[str, Any]:
    """The recorded settings, with the model's address if the user's environment variables name none."""
    recorded = dict(header.settings)
    address = recorded.pop("base_url", None) or _recorded_model(header).base_url
    if live and "base_url" in accepted and not _names_endpoint():
        recorded["base_url"] = address or endpoint.OPENAI_URL
    return recorded


def _check_known(name: str, named: Mapping[str, str], replaced: set[str]) -> None:
    """Raise UsageError for a recorded setting that no participant accepts, unless an object may have replaced the
    participant that accepted it.
    """
    known = {n for part, who in named.items() if part not in replaced for n in _specs(part, who)}
    if "model" in replaced:
        known |= {*_specs("model", named["model"])}
    if name not in known and replaced <= {"model"}:
        suggestion = plugins.suggest_names(name[:_MAX_SHOWN], known)
        raise UsageError(f"the trace has the setting {in_quotes(name)}, which does not exist here; {suggestion}")


def _may_take(spec: SettingSpec, value: object, *, live: bool, offline: bool) -> bool:
    """Whether a recorded value applies. ``offline``: the user has named no endpoint for a recorded model's name."""
    if spec.trust == "recordable" and spec.name in MODEL_NAMES and live:
        return value in (None, "scripted") or (not offline and _is_plain_name(value))
    if spec.trust == "recordable" and not live:
        return value is None or _is_plain_name(value)
    return spec.allows_foreign(value)


def _must_repeat(spec: SettingSpec, value: object, live: bool) -> bool:
    if not spec.required and (value == spec.default or _without_defaults(spec, value) == {}):
        return False
    return spec.declared.repeat == "always" or (live and spec.declared.repeat == "live")


def _without_defaults(spec: SettingSpec, value: object) -> object:
    """The value; for a table with defaults, such as the sandbox's limits, only the entries that differ from them."""
    built = plugins.with_structs(value, spec.type)
    if not isinstance(built, msgspec.Struct):
        return value
    usual = {field.name: field.default for field in msgspec.structs.fields(built)}
    return {name: found for name, found in msgspec.structs.asdict(built).items() if found != usual[name]}


def _is_plain_name(value: object) -> bool:
    """Whether the value is a short name without an address."""
    return isinstance(value, str) and len(value) <= MAX_FOREIGN_CHARS and "://" not in value


def _missing_message(missing: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name}={_value_shown(name, value)}" for name, value in missing.items())
    ways = " ".join(_options(missing))
    what = "this setting, which is" if len(missing) == 1 else "these settings, which are"
    return f"the trace was recorded with {what} not taken from a trace: {shown}; if you trust it, give {ways}"


def _options(missing: Mapping[str, Any]) -> Iterator[str]:
    for name, value in missing.items():
        if name == "base_url":
            yield f"--base-url {value if value == endpoint.OPENAI_URL else '…'}"
        else:
            yield f"--set {name}=…"


def _value_shown(name: str, value: object) -> str:
    if is_secret_name(name):
        return "(not shown)"
    if name == "base_url" and isinstance(value, str):
        return in_quotes(_without_login(value))
    return in_quotes(value)


def _without_login(url: str) -> str:
    try:
        return endpoint.without_credentials(url[: 4 * _MAX_SHOWN])
    except ValueError:
        return "(not an address)"
