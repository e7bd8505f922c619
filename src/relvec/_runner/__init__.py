"""The loop around every search: history, callbacks, checkpoints and Ctrl-C."""

from relvec._runner.checkpoint import Checkpoint
from relvec._runner.fingerprint import fingerprints
from relvec._runner.runner import Runner

__all__ = ["Checkpoint", "Runner", "fingerprints"]
