"""The size of the next batch, from how fast the last ones went."""

from dataclasses import dataclass, replace

BATCH_SECONDS = 0.25
"""A query waits for the batch in hand: no batch is meant to last longer."""
_MARGIN = 0.8
_WEIGHT = 0.3
_FIRST_TOKENS = 512
_LEAST_TOKENS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What is known of the device's speed."""

    ceiling: int
    """Most padded tokens of a batch: the configured budget, less whatever proved too large for the device."""
    tokens_per_second: float | None = None
    """Padded tokens, smoothed over the batches so far."""

    @property
    def budget(self) -> int:
        """Padded tokens of the next batch."""
        if self.tokens_per_second is None:
            return min(self.ceiling, _FIRST_TOKENS)
        return min(self.ceiling, max(_LEAST_TOKENS, int(self.tokens_per_second * BATCH_SECONDS * _MARGIN)))


def after_batch(pace: Pace, *, padded_tokens: int, seconds: float) -> Pace:
    """Pace after one more batch."""
    speed = padded_tokens / max(seconds, 1e-6)
    if pace.tokens_per_second is not None:
        speed = _WEIGHT * speed + (1 - _WEIGHT) * pace.tokens_per_second
    return replace(pace, tokens_per_second=speed)


def after_shortage(pace: Pace, *, padded_tokens: int) -> Pace:
    """Pace after a batch that the device had no memory for: half of it from now on."""
    return replace(pace, ceiling=max(1, min(pace.ceiling, padded_tokens) // 2))
