"""What holds for any input: properties that hypothesis tries to break.

The profile says how hard: "quick" in the default suite, "ci" before a merge, "long" by hand.
"""

import os

from hypothesis import HealthCheck, settings

COMMON = {
    "deadline": None,
    "database": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("quick", max_examples=15, derandomize=True, **COMMON)
settings.register_profile("ci", max_examples=500, derandomize=True, **COMMON)
settings.register_profile("long", max_examples=20_000, print_blob=True, **COMMON)
settings.load_profile(os.environ.get("RELVEC_PROPERTIES", "quick"))
