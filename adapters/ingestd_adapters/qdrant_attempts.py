"""Tries a request to a Qdrant server again while that can help."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import grpc  # type: ignore[import-untyped]  # grpcio ships no types
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from ingestd.errors import ConfigurationError, IngestdError, StoreMismatch, StoreUnavailable

_Answer = TypeVar("_Answer")
_FIRST_DELAY_SECONDS = 0.1
_LONGEST_DELAY_SECONDS = 5.0
_AGAIN_STATUSES = frozenset({408, 429})
_AGAIN_CODES = frozenset(
    {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED}
)
_NO_KEY = (401, 403, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED)
_NOT_THERE = (404, grpc.StatusCode.NOT_FOUND)


class NotDone(Exception):
    """The server took a write, and did not finish it in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """A failure that may pass."""

    after_seconds: float | None
    """What the server asks us to wait."""


class Attempts:
    """How long, and at which distances, a request is tried.

    Parameters
    ----------
    url
        Named in messages.
    retry_seconds
        From the first try on, the latest start of another.
    closed
        Set by the owner when it closes: nothing waits after that.
    pick
        Source of the jitter.
    """

    def __init__(self, url: str, *, retry_seconds: float, closed: threading.Event, pick: random.Random) -> None:
        self._url = url
        self._retry_seconds = retry_seconds
        self._closed = closed
        self._pick = pick

    def __call__(self, request: Callable[[], _Answer]) -> _Answer:
        """Answer to the request.

        Raises
        ------
        StoreUnavailable
            When it failed for longer than we try, with what the server asks us to wait.
        StoreMismatch
            When what it is about does not exist.
        ConfigurationError
            When the server wants another key.
        IngestdError
            When the server refused it for good.
        """
        deadline = time.monotonic() + self._retry_seconds
        delay = _FIRST_DELAY_SECONDS
        while True:
            try:
                return request()
            except (ApiException, QdrantException, grpc.RpcError, NotDone) as error:
                again = _judged(error, self._url)
                # Full jitter, so that many writers that failed together do not come back together.
                wait = max(self._pick.uniform(0, delay), again.after_seconds or 0)
                if time.monotonic() + wait > deadline or self._closed.wait(wait):
                    raise StoreUnavailable(
                        f"the Qdrant server at {self._url} does not serve now: {_said(error)}",
                        delay_seconds=again.after_seconds,
                    ) from error
            delay = min(2 * delay, _LONGEST_DELAY_SECONDS)


def refused_with(error: IngestdError, status: int) -> bool:
    """Whether the server's answer behind the error had the status."""
    cause = error.__cause__
    return isinstance(cause, UnexpectedResponse) and cause.status_code == status


def _judged(error: Exception, url: str) -> Again:
    if isinstance(error, ResourceExhaustedResponse):
        return Again(after_seconds=float(error.retry_after_s))
    if isinstance(error, UnexpectedResponse):
        status = error.status_code or 0
        if status in _AGAIN_STATUSES or status >= 500:
            return Again(after_seconds=None)
        raise _refusal(status, error, url) from error
    if isinstance(error, grpc.RpcError):
        code = error.code() if isinstance(error, grpc.Call) else grpc.StatusCode.UNKNOWN
        if code in _AGAIN_CODES:
            return Again(after_seconds=None)
        raise _refusal(code, error, url) from error
    return Again(after_seconds=None)


def _refusal(status: int | grpc.StatusCode, error: Exception, url: str) -> IngestdError:
    if status in _NO_KEY:
        return ConfigurationError(f"the Qdrant server at {url} refuses our key ({status}): see api_key_file in [store]")
    if status in _NOT_THERE:
        return StoreMismatch(f"the Qdrant server at {url} does not have it: {_said(error)}; run `ingestd sync`")
    return IngestdError(f"the Qdrant server at {url} refused a request for good: {_said(error)}")


def _said(error: Exception) -> str:
    if isinstance(error, UnexpectedResponse):
        return f"{error.status_code} {error.content[:400].decode(errors='replace')}"
    if isinstance(error, grpc.RpcError) and isinstance(error, grpc.Call):
        return f"{error.code().name} {error.details()}"
    # ResponseHandlingException has no text of its own.
    return str(getattr(error, "source", "") or error) or type(error).__name__
