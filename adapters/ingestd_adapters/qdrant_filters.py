"""What we ask of a Qdrant server, in its client's types."""

from collections.abc import Sequence

from qdrant_client import models

from ingestd.model.identity import Instance, PointId
from ingestd.model.point import SearchFilter
from ingestd_adapters.qdrant_payload import FOLDERS, below


def own(instance: Instance, *more: models.Condition) -> models.Filter:
    """Filter for the instance's points that meet the conditions."""
    return models.Filter(must=[_equals("ingestd", instance), *more])


def fenced(instance: Instance, version: int, ids: Sequence[PointId] = ()) -> models.Filter:
    """Filter for the instance's points below the version; among the ids, when there are any."""
    below_version = models.FieldCondition(key="doc_version", range=models.Range(lt=version))
    return own(instance, *([models.HasIdCondition(has_id=list(ids))] if ids else []), below_version)


def narrowing(instance: Instance, narrowed: SearchFilter) -> models.Filter:
    """Filter for the instance's points that a search may give."""
    conditions: list[models.Condition] = [_equals("tags", tag) for tag in narrowed.tags]
    if narrowed.root is not None:
        conditions.append(_equals("root", narrowed.root))
    prefix = below(narrowed.path_prefix)
    if prefix is not None:
        conditions.append(models.Filter(should=[_equals("path", prefix), _equals(FOLDERS, prefix)]))
    return own(instance, *conditions)


def _equals(field: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchValue(value=value))
