"""Lets the tests of this folder and of those below share the helper modules beside this file."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
