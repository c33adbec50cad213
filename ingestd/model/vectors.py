"""Rows of embeddings."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
"""Shape ``(n, d)``, float32, rows in the order of their texts, each of norm 1."""
