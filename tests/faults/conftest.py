import sys
from pathlib import Path

# The tests of this folder share a world to crash; it is no package, so that it ships with nothing.
sys.path.append(str(Path(__file__).parent))
