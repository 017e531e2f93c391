"""An empty library."""

import pytest

from codeplan.skills.library import SkillLibrary


@pytest.fixture
def library(tmp_path):
    return SkillLibrary(tmp_path / "skills")
