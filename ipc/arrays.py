"""The type of every array that is handed around or travels: numpy's, of any dtype and shape."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
