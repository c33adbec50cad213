"""A Qdrant server for tests: real HTTP, requests held against Qdrant's OpenAPI document, executed in memory.

It answers what a server answers to the requests that the store makes, and fails on order: a status, a connection
reset before or after the request was applied, or an application that comes late.
"""

import json
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import BaseModel, TypeAdapter
from qdrant_client import QdrantClient, models

from tests.contract.qdrant_openapi import OpenApi, Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What happens to the next request whose method and path match."""

    kind: Literal["status", "reset", "lost", "late", "unfinished"]
    """``reset``: not applied; ``lost``: applied, not answered; ``late``: applied at :meth:`StandIn.apply_late`, not
    answered; ``unfinished``: applied, answered with ``wait_timeout``."""
    matching: str = ""
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)


class StandIn:
    def __init__(self, *, version: str = "1.16", key: str | None = None) -> None:
        self.openapi = OpenApi(version)
        self.reported_version = self.openapi.version
        self.key = key
        self.faults: deque[Fault] = deque()
        self.requests: list[str] = []
        self.refused: list[str] = []
        self.engine = Engine()
        self._late: list[Callable[[], object]] = []
        self._lock = threading.RLock()
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                stand_in.answer(self)

            do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = handle_any  # noqa: N815  # the library's names

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), name="stand-in")
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def fail(self, *faults: Fault) -> None:
        self.faults.extend(faults)

    def apply_late(self) -> None:
        with self._lock:
            for apply in self._late:
                apply()
            self._late.clear()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self.engine.close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        size = int(handler.headers.get("Content-Length") or 0)
        raw = handler.rfile.read(size)
        name = f"{handler.command} {parts.path}"
        with self._lock:
            self.requests.append(name)
            fault = self._fault(name)
            if self.key is not None and handler.headers.get("api-key") != self.key:
                send(handler, 401, {"status": {"error": "Must provide an API key"}})
            elif fault is not None and fault.kind == "status":
                send(handler, fault.status, {"status": {"error": "on order"}}, fault.headers)
            elif fault is not None and fault.kind == "reset":
                reset(handler)
            else:
                self._apply(handler, fault, dict(parse_qsl(parts.query)), json.loads(raw) if raw else None)

    def _apply(self, handler: BaseHTTPRequestHandler, fault: Fault | None, query: dict[str, str], body: Any) -> None:
        path = urlsplit(handler.path).path
        try:
            self.openapi.check(handler.command, path, query, body)
        except Refused as reason:
            self.refused.append(str(reason))
            send(handler, 400, {"status": {"error": str(reason)}})
            return
        segments = [unquote(segment) for segment in path.strip("/").split("/") if segment]
        if fault is not None and fault.kind == "late":
            self._late.append(lambda: self._run(handler.command, segments, body))
            reset(handler)
            return
        status, result = self._run(handler.command, segments, body)
        if fault is not None and fault.kind == "lost":
            reset(handler)
        elif fault is not None and fault.kind == "unfinished":
            send(handler, 200, {"result": {"operation_id": 1, "status": "wait_timeout"}, "status": "ok", "time": 0.0})
        else:
            send(handler, status, result)

    def _run(self, method: str, segments: list[str], body: Any) -> tuple[int, Any]:
        if not segments:
            return 200, {"title": "qdrant", "version": self.reported_version}
        try:
            result = self.engine.run(method, segments, body)
        except Missing as missing:
            return 404, {"status": {"error": f"Not found: Collection `{missing}` doesn't exist!"}}
        except Exists as exists:
            return 409, {"status": {"error": f"Wrong input: Collection `{exists}` already exists!"}}
        except ValueError as error:
            return 400, {"status": {"error": str(error)}}
        return 200, {"result": jsonable(result), "status": "ok", "time": 0.0}

    def _fault(self, name: str) -> Fault | None:
        if self.faults and re.search(self.faults[0].matching, name):
            return self.faults.popleft()
        return None


class Missing(Exception):
    pass


class Exists(Exception):
    pass


class Engine:
    """Requests executed by the client's own local mode."""

    def __init__(self) -> None:
        self._local = QdrantClient(":memory:", force_disable_check_same_thread=True)
        self._indexes: dict[str, dict[str, str]] = {}

    def close(self) -> None:
        self._local.close()

    def run(self, method: str, segments: list[str], body: Any) -> Any:  # noqa: PLR0911  # a line a route
        match method, segments:
            case "GET", ["collections"]:
                return self._local.get_collections()
            case "GET", ["aliases"]:
                return self._local.get_aliases()
            case "POST", ["collections", "aliases"]:
                operations = parsed(list[models.AliasOperations], body["actions"])
                return self._local.update_collection_aliases(operations)
            case "GET", ["collections", name, "exists"]:
                return {"exists": self._local.collection_exists(name)}
            case "PUT", ["collections", name]:
                return self._create(name, body)
            case "DELETE", ["collections", name]:
                self._indexes.pop(name, None)
                return self._local.delete_collection(name)
            case _, ["collections", name, *rest]:
                if not self._local.collection_exists(name):
                    raise Missing(name)
                return self._in_collection(method, name, "/".join(rest), body)
        raise ValueError(f"{method} {segments} is not answered here")

    def _create(self, name: str, body: Any) -> Any:
        if self._local.collection_exists(name):
            raise Exists(name)
        created = parsed(models.CreateCollection, body)
        self._indexes[name] = {}
        return self._local.create_collection(name, vectors_config=created.vectors, metadata=created.metadata)

    def _in_collection(self, method: str, name: str, rest: str, body: Any) -> Any:  # noqa: PLR0911  # a line a route
        match method, rest:
            case "GET", "":
                info = jsonable(self._local.get_collection(name))
                info["payload_schema"] = {
                    field: {"data_type": kind, "points": 0} for field, kind in self._indexes[name].items()
                }
                return info
            case "PATCH", "":
                return self._local.update_collection(name, metadata=body["metadata"])
            case "PUT", "index":
                self._indexes[name][body["field_name"]] = body["field_schema"]
                return done()
            case "PUT", "points":
                batch = parsed(models.PointsBatch, body)
                return self._local.upsert(name, batch.batch, update_filter=batch.update_filter)
            case "POST", "points/delete":
                return self._local.delete(name, parsed(models.FilterSelector, body))
            case "POST", "points/batch":
                operations = parsed(list[models.UpdateOperation], body["operations"])
                return self._local.batch_update_points(name, operations)
        return self._look(name, rest, body)

    def _look(self, name: str, rest: str, body: Any) -> Any:
        match rest:
            case "points":
                return self._local.retrieve(name, body["ids"], with_payload=body["with_payload"])
            case "points/count":
                return self._local.count(name, parsed(models.Filter, body["filter"]), exact=True)
            case "points/scroll":
                request = parsed(models.ScrollRequest, body)
                points, following = self._local.scroll(
                    name,
                    scroll_filter=request.filter,
                    limit=request.limit or 10,
                    offset=request.offset,
                    with_payload=request.with_payload or False,
                    with_vectors=request.with_vector or False,
                )
                return {"points": jsonable(points), "next_page_offset": following}
            case "points/query":
                request = parsed(models.QueryRequest, body)
                return self._local.query_points(
                    name,
                    query=request.query.nearest,
                    query_filter=request.filter,
                    limit=request.limit or 10,
                    with_payload=True,
                )
        raise ValueError(f"{rest} is not answered here")


def parsed(kind: Any, body: Any) -> Any:
    return TypeAdapter(kind).validate_python(body)


def done() -> dict[str, Any]:
    return {"operation_id": 0, "status": "completed"}


def jsonable(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    return value


def send(handler: BaseHTTPRequestHandler, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
    body = json.dumps(value).encode()
    handler.send_response(status)
    for name, content in {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **(headers or {}),
    }.items():
        handler.send_header(name, content)
    handler.end_headers()
    handler.wfile.write(body)


def reset(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()
