import pytest

from tests.contract.qdrant_openapi import OpenApi, Refused

POINTS = "/collections/notes.g1/points"


def batch(**more: object) -> dict[str, object]:
    return {"batch": {"ids": ["00000000-0000-5000-8000-000000000000"], "vectors": [[1.0]]}, **more}


@pytest.mark.parametrize("version", ["1.16", "1.19"])
@pytest.mark.parametrize(
    ("method", "path", "query", "body", "reason"),
    [
        ("PUT", POINTS, {"wait": "true"}, batch(update_filtr={}), "unknown field update_filtr"),
        ("PUT", POINTS, {"wait": "true"}, {"batch": {"ids": ["x"], "vectors": [[1.0]]}}, "no UUID"),
        ("PUT", POINTS, {"wait": "true"}, {"batch": {"ids": [1], "vectors": [[None]]}}, "is no number"),
        ("PUT", POINTS, {"wit": "true"}, batch(), "no query parameter wit"),
        ("POST", f"{POINTS}/scroll", {}, {"limit": 0}, "below 1"),
        ("POST", f"{POINTS}/scroll", {}, {"filter": {"must": [{"key": "a", "range": {"below": 1}}]}}, "unknown field"),
        ("GET", f"{POINTS}/nothing", {}, None, "not in the document"),
        ("GET", "/collections", {}, {}, "takes no body"),
    ],
)
def test_a_request_that_the_document_does_not_allow_is_refused(version, method, path, query, body, reason):
    with pytest.raises(Refused, match=reason):
        OpenApi(version).check(method, path, query, body)


def test_a_request_that_the_document_allows_passes():
    fence = {"must": [{"key": "doc_version", "range": {"lt": 2}}, {"has_id": [1]}]}
    OpenApi("1.16").check("PUT", POINTS, {"wait": "true"}, batch(update_filter=fence))
