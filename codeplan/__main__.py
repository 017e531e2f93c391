"""``python -m codeplan``: the command line."""

import sys

from codeplan.cli.app import main

sys.exit(main())
