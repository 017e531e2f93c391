"""Finding the browser and the pages of MiniWoB++."""

import subprocess
import sys

import pytest
from support.miniwob_pages import folder_of_pages

from codeplan.envs.miniwob import browser
from codeplan.envs.miniwob.environment import MiniWob
from codeplan.envs.miniwob.tasks import PAPER_TASKS, PageFolder
from codeplan.errors import UsageError
from codeplan.types import Task


def test_browser_and_pages_are_looked_up_lazily():
    env = MiniWob(browser="/no/such/browser", pages="/no/such/folder")
    assert env.kinds == PAPER_TASKS
    env.close()


def test_missing_pages_are_reported_with_installation_advice(tmp_path):
    env = MiniWob(pages=str(tmp_path))
    for ask in (lambda: env.tasks("test"), lambda: env.reset(Task("click-test/1"))):
        with pytest.raises(UsageError, match=r"lacks MiniWoB\+\+'s folders.*pip install 'codeplan\[miniwob\]'"):
            ask()


def test_a_missing_browser_is_reported_with_installation_advice(tmp_path):
    env = MiniWob(browser=str(tmp_path / "chrome"), pages=folder_of_pages(tmp_path, page=""))
    with pytest.raises(UsageError, match=r"is not a program; .*apt-get install -y chromium-headless-shell"):
        env.reset(Task("page/1"))
    with pytest.raises(UsageError, match="is not a program"):
        browser.find_browser(str(tmp_path))


def test_a_custom_folder_has_its_own_kinds(tmp_path):
    pages = PageFolder(folder_of_pages(tmp_path, zeta="", alpha="", **{"click-test": ""}))
    assert pages.names() == ("click-test", "alpha", "zeta")
    assert MiniWob(pages=str(tmp_path)).kinds == pages.names()
    assert pages.url("alpha") == (tmp_path / "miniwob" / "alpha.html").as_uri()


def test_importing_miniwob_does_not_import_the_package_of_its_pages():
    code = "import sys, codeplan.envs.miniwob; print(sorted({'miniwob', 'selenium', 'websocket'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
