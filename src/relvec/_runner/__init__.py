"""What a fit has found so far, kept in a file from which another process goes on."""

from relvec._runner.checkpoint import Checkpoint
from relvec._runner.fingerprint import fingerprints

__all__ = ["Checkpoint", "fingerprints"]
