"""Settings of Hypothesis: new examples in every local run, the same examples if `CI` is set.

A failure in a local run is fixed there; continuous integration must not depend on luck.
"""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
