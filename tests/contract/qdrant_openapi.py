"""Checks a request against Qdrant's own OpenAPI document, with unknown fields forbidden."""

import json
import re
from pathlib import Path
from typing import Any
from uuid import UUID

DOCUMENTS = Path(__file__).parents[1] / "data"
_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


class Refused(Exception):
    """What the document does not allow."""


class OpenApi:
    def __init__(self, version: str) -> None:
        document = json.loads((DOCUMENTS / f"qdrant-openapi-{version}.json").read_text())
        self.version = f"{version}.0"
        self._paths: dict[str, Any] = document["paths"]
        self._schemas: dict[str, Any] = document["components"]["schemas"]

    def check(self, method: str, path: str, query: dict[str, str], body: Any) -> None:
        operation = self._operation(method, path)
        allowed = {parameter["name"]: parameter for parameter in operation.get("parameters", ())}
        for name, value in query.items():
            if name not in allowed or allowed[name]["in"] != "query":
                raise Refused(f"{method} {path} knows no query parameter {name}={value}")
        wanted = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if wanted is None and body is not None:
            raise Refused(f"{method} {path} takes no body")
        if wanted is not None:
            self._check(wanted, body, "body")

    def _operation(self, method: str, path: str) -> dict[str, Any]:
        # A literal segment goes before a parameter, as in /collections/aliases.
        for template in sorted(self._paths, key=lambda template: template.count("{")):
            pattern = re.sub(r"\{[^}]+\}", "[^/]+", template)
            if re.fullmatch(pattern, path) and method.lower() in self._paths[template]:
                return self._paths[template][method.lower()]
        raise Refused(f"{method} {path} is not in the document")

    def _check(self, schema: dict[str, Any], value: Any, where: str) -> None:
        if "$ref" in schema:
            self._check(self._schemas[schema["$ref"].rsplit("/", 1)[1]], value, where)
            return
        if value is None and schema.get("nullable"):
            return
        for key in ("anyOf", "oneOf"):
            if key in schema:
                self._check_alternatives(schema[key], value, where)
        for part in schema.get("allOf", ()):
            self._check(part, value, where)
        if set(schema) == {"nullable"} and value is not None:
            raise Refused(f"{where} is not null")
        self._check_kind(schema, value, where)

    def _check_alternatives(self, alternatives: list[dict[str, Any]], value: Any, where: str) -> None:
        reasons = []
        for alternative in alternatives:
            try:
                self._check(alternative, value, where)
            except Refused as reason:
                reasons.append(str(reason))
            else:
                return
        raise Refused(f"{where} fits none of: {'; '.join(reasons)}")

    def _check_kind(self, schema: dict[str, Any], value: Any, where: str) -> None:
        kind = schema.get("type")
        if kind is not None and not self._is(kind, value):
            raise Refused(f"{where} = {value!r:.80} is no {kind}")
        if "enum" in schema and value not in schema["enum"]:
            raise Refused(f"{where} = {value!r:.80} is none of {schema['enum']}")
        if value < schema["minimum"] if "minimum" in schema else False:
            raise Refused(f"{where} = {value} is below {schema['minimum']}")
        if schema.get("format") == "uuid":
            try:
                UUID(value)
            except ValueError as error:
                raise Refused(f"{where} = {value!r:.80} is no UUID") from error
        if kind == "array":
            for number, item in enumerate(value):
                self._check(schema.get("items", {}), item, f"{where}[{number}]")
        if kind == "object":
            self._check_object(schema, value, where)

    def _check_object(self, schema: dict[str, Any], value: dict[str, Any], where: str) -> None:
        missing = [name for name in schema.get("required", ()) if name not in value]
        if missing:
            raise Refused(f"{where} lacks {missing}")
        properties, more = schema.get("properties"), schema.get("additionalProperties")
        for name, item in value.items():
            if properties is not None and name in properties:
                self._check(properties[name], item, f"{where}.{name}")
            elif isinstance(more, dict):
                self._check(more, item, f"{where}.{name}")
            elif properties is not None and more is not True:
                raise Refused(f"{where} has the unknown field {name}")

    def _is(self, kind: str, value: Any) -> bool:
        return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
