"""`python -m tt_debugger` is `ttdbg`."""

import sys

from tt_debugger.cli.main import main

sys.exit(main())
