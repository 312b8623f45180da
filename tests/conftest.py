"""How generated examples are drawn: anew at one's own desk, always the same where `CI` is set.

What is found at a desk is mended there; a landing must not depend on luck.
"""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
