"""What goes on beside a search: history, callbacks, checkpoints and Ctrl-C."""

from relvec._runner.checkpoint import Checkpoint
from relvec._runner.fingerprint import fingerprints

__all__ = ["Checkpoint", "fingerprints"]
