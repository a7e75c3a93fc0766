"""Progress bar of training, on standard error."""

from __future__ import annotations

import sys
from typing import Any


class Bar:
    """A bar of epochs: tqdm's if it is installed, else one line that is written over."""

    def __init__(self, epochs: int, shown: bool):
        self._epochs, self._shown = epochs, shown
        self._bar: Any = None
        if shown:
            try:
                from tqdm import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=epochs, unit="epoch")

    def update(self, epoch: float, elbo: float) -> None:
        if not self._shown:
            return
        if self._bar is None:
            sys.stderr.write(f"\repoch {epoch:.0f} of {self._epochs}  ELBO {elbo:.1f} ")
            sys.stderr.flush()
        else:
            self._bar.set_postfix_str(f"ELBO {elbo:.1f}", refresh=False)
            self._bar.update(int(epoch) - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._shown:
            sys.stderr.write("\n")
