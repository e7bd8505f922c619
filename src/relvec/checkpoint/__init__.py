"""What a fit has found so far, kept in a file from which another process goes on."""

from relvec.checkpoint.fingerprint import fingerprints
from relvec.checkpoint.record import Record

__all__ = ["Record", "fingerprints"]
