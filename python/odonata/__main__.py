"""`python -m odonata`: the command line without the installed script."""

import sys

from odonata.cli.main import main

sys.exit(main())
