"""``python -m codeplan``: the command line."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current folder: its modules may be a stranger's

from codeplan.cli.app import main

sys.exit(main())
