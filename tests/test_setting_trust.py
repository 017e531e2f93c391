"""Every setting declares where its value may come from, and a file from elsewhere sets only what is harmless."""

from typing import Annotated, Literal, get_args

import pytest

from codeplan import plugins
from codeplan.budget import Budget
from codeplan.plugins import Setting, SettingSpec, Trust
from codeplan.runner import models
from codeplan.sandbox import Limits

HARMLESS_TEXTS = {"sample_kinds", "mistakes", "weakness", "stop", "simplifications"}
"""Settings that are free text and yet safe: each is compared with known words, or sent to the user's endpoint."""


def all_settings() -> list[tuple[str, SettingSpec]]:
    """Every setting of every environment, method and model, of the sandbox and of a budget."""
    found = [
        (name, spec)
        for group in get_args(plugins.Group)
        for name in plugins.names(group)
        for spec in plugins.setting_specs(plugins.load_factory(group, name))
    ]
    found += [(model, spec) for model in ("scripted", "some-model") for spec in models.setting_specs(model)]
    return found + [(kind.__name__, spec) for kind in (Limits, Budget) for spec in plugins.setting_specs(kind)]


SETTINGS = all_settings()


def numbers_in(kind: object) -> bool:
    return bool({int, float} & {kind, *get_args(kind)})


def test_each_setting_declares_where_it_may_come_from():
    for owner, spec in SETTINGS:
        assert spec.trust in get_args(Trust), f"declare the setting {spec.name} of {owner}: Setting(help, trust)"


def test_a_safe_setting_has_bounds_and_is_no_free_text():
    for owner, spec in SETTINGS:
        if spec.trust == "safe" and numbers_in(spec.type):
            assert spec.declared.most is not None, f"declare the largest number for {spec.name} of {owner}: most=…"
        free_text = spec.type is str or str in get_args(spec.type)
        assert spec.trust != "safe" or not free_text or spec.declared.group or spec.name in HARMLESS_TEXTS


def test_the_sandboxs_limits_come_from_the_user_alone():
    assert {spec.trust for spec in plugins.setting_specs(Limits)} == {"trusted"}


def spec_of(name: str, owner: str) -> SettingSpec:
    return next(spec for found, spec in SETTINGS if (found, spec.name) == (owner, name))


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        ("adaplanner", "tries", 3),
        ("adaplanner", "asks", False),
        ("adaplanner", "resume_by", "model"),
        ("adapt", "executor", "react"),
        ("adapt", "executor", {"name": "react", "calls": 30}),
        ("try-again", "executor", {"name": "adapt", "executor": {"name": "react", "example": False}}),
        ("some-model", "stop", ["\n\n"]),
        ("some-model", "temperature", None),
        ("scripted", "mistakes", "many"),
    ],
)
def test_a_file_from_elsewhere_may_set_what_is_harmless(owner, name, value):
    assert spec_of(name, owner).allows_foreign(value)


def nested(depth: int) -> object:
    return "react" if depth == 0 else {"name": "try-again", "executor": nested(depth - 1)}


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        ("adaplanner", "tries", 10**12),
        ("adaplanner", "tries", -(10**12)),
        ("adaplanner", "tries", "3"),
        ("adaplanner", "tries", [3]),
        ("adaplanner", "limits", {"memory": 1}),
        ("adaplanner", "limits", None),
        ("adaplanner", "allow_weak_sandbox", True),
        ("adaplanner", "backend", "monty"),
        ("adaplanner", "imports", "os"),
        ("adaplanner", "sample_kinds", "x" * 100_000),
        ("adaplanner", "library", "/etc"),
        ("adaplanner", "embeddings", "a-costly-model"),
        ("adapt", "max_depth", 10**6),
        ("adapt", "executor", {"name": "adaplanner", "limits": {"memory": 1 << 40}}),
        ("adapt", "executor", {"name": "adaplanner", "allow_weak_sandbox": True}),
        ("adapt", "executor", {"name": "adaplanner", "imports": "os"}),
        ("adapt", "executor", {"name": "autoplan", "plan": "/etc/passwd"}),
        ("adapt", "executor", {"name": "react", "prompts": "/etc"}),
        ("adapt", "executor", {"name": "try-again", "executor": {"name": "autoplan", "plan": "/etc/passwd"}}),
        ("adapt", "executor", {"name": "react", "calls": "many"}),
        ("adapt", "executor", {"name": "react", "unknown": 1}),
        ("adapt", "executor", {"name": ["react"]}),
        ("adapt", "executor", {"calls": 3}),
        ("adapt", "executor", "os:system"),
        ("try-again", "executor", nested(500)),
        ("autoplan", "plan", "/etc/passwd"),
        ("scripted", "gaps", float("nan")),
        ("scripted", "gaps", float("inf")),
        ("scripted", "mistakes", {"misspelt_name": 1.0}),
        ("some-model", "stop", ["x"] * 10_000),
        ("some-model", "stop", ["x" * 10_000]),
        ("some-model", "base_url", "http://127.0.0.1:1/v1"),
        ("some-model", "key_variable", "HOME"),
        ("some-model", "ask_model", "m@http://127.0.0.1:1/v1"),
        ("some-model", "extra_body", {"n": 100}),
        ("miniwob", "browser", "/bin/true"),
        ("webshop", "nouns", "spacy:some_package"),
        ("hotpotqa", "live", True),
    ],
)
def test_a_file_from_elsewhere_may_not_set_anything_else(owner, name, value):
    assert not spec_of(name, owner).allows_foreign(value)


def test_an_undeclared_setting_counts_as_trusted():
    def make(
        *, boxes: int = 3, size: Annotated[Literal["small", "large"], Setting("How large.")] = "small"
    ) -> None: ...

    for spec in plugins.setting_specs(make):
        assert spec.trust is None
        assert not spec.allows_foreign(spec.default)
