"""What needs torch cannot even be collected without it; `make test` installs it."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]
