"""``python -m codeplan``: the command line."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current folder: its modules may be a stranger's
    if sys.modules["codeplan"].__file__ is None:
        del sys.modules["codeplan"]  # a folder `codeplan` there hid the installed package

from codeplan.cli.app import main

sys.exit(main())
