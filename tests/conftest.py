"""How the generated examples are chosen.

A change is judged by the same examples each time (``ci``); a developer's runs (``dev``) look at new ones every time,
and ``HYPOTHESIS_PROFILE=nightly`` looks at many.
"""

import os

from hypothesis import settings

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))
