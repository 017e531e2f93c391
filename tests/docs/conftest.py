"""A reader of the documentation's pages."""

from pathlib import Path

import pytest
from support.page_reader import PageReader, Read


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Opens a page: ``read("docs/bench.md", OPENAI_BASE_URL=url)``."""
    return lambda page, **variables: PageReader(page, tmp_path, **variables)
