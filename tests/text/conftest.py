"""No deadlines for single examples: how long one takes depends on what else the machine does."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
