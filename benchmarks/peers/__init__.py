"""Speed against fastrvm, a C++ package: ``python -m benchmarks.peers``."""
