"""``python -m codeplan``: the command line."""

import sys

from codeplan.cli import main

sys.exit(main())
