"""Makes, claims, publishes, drops a server's collections."""

import dataclasses
import random
import re
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from qdrant_client import QdrantClient, models

from ingestd.errors import IngestdError, StoreMismatch, StoreUnavailable
from ingestd.failpoints import failpoint
from ingestd.model.identity import Instance
from ingestd.model.point import Claim, Generation
from ingestd_adapters.edge_frames import claim_of
from ingestd_adapters.qdrant_attempts import Attempts, refused_with
from ingestd_adapters.qdrant_options import ServerOptions
from ingestd_adapters.qdrant_payload import INDEXED

_Answer = TypeVar("_Answer")
FLOOR = (1, 16)
"""Earlier servers refuse collection metadata and conditional upserts."""
MADE_BY = "ingestd"
_PHYSICAL = re.compile(r".+\.g\d+")
_EXISTS = 409
_KINDS = {
    "keyword": models.PayloadSchemaType.KEYWORD,
    "integer": models.PayloadSchemaType.INTEGER,
    "datetime": models.PayloadSchemaType.DATETIME,
}


class QdrantCollections:
    """The port's methods that are about whole collections.

    Parameters
    ----------
    instance
        The marker of every point that is written, read or deleted.
    options
        Where the server is, how long to wait for it.
    api_key
        Sent with every request.
    """

    def __init__(self, instance: Instance, options: ServerOptions, *, api_key: str | None = None) -> None:
        self.instance = instance
        self.url = options.url
        self._closed = threading.Event()
        self._guard = threading.Lock()
        self._checked = False
        self._attempts = Attempts(
            options.url,
            retry_seconds=options.retry_seconds,
            closed=self._closed,
            pick=random.Random(),  # noqa: S311  # jitter, no secret
        )
        more: dict[str, Any] = {"verify": options.verify}
        self._client = QdrantClient(
            url=options.url,
            prefer_grpc=options.prefer_grpc,
            timeout=max(1, round(options.timeout_seconds)),
            # As a header, because the client prints a warning about a key on plain HTTP at each start.
            headers=None if api_key is None else {"api-key": api_key},
            check_compatibility=False,
            **more,
        )

    def prepare(self, generation: Generation) -> bool:
        """As the port says; also adds what a call cut short left out, and the alias when there is none."""
        found = self._found(generation)
        if found is None:
            failpoint("store.create")
            made = self._create(generation)
            failpoint("store.created")
            found = self._found(generation)
            if found is None:
                raise StoreUnavailable(f"the collection {generation.name} at {self.url} was removed while it was made")
        else:
            made = False
        for field, kind in INDEXED.items():
            if field not in found.payload_schema:
                self._index(generation, field, kind)
        if generation.collection not in self._aliases():
            self.publish_alias(generation)
        return made

    def publish_alias(self, generation: Generation) -> None:
        """Have readers of the collection's name see this generation, in one call."""
        old = self._aliases().get(generation.collection)
        if old == generation.name:
            return
        name = generation.collection
        created = models.CreateAlias(collection_name=generation.name, alias_name=name)
        switch: list[models.AliasOperations] = [models.CreateAliasOperation(create_alias=created)]
        if old is not None:
            switch.insert(0, models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=name)))
        failpoint("store.alias")
        self.ask(lambda client: client.update_collection_aliases(change_aliases_operations=switch))
        failpoint("store.aliased")

    def generations(self) -> tuple[str, ...]:
        """As the port says."""
        collections = self.ask(lambda client: client.get_collections()).collections
        names = [found.name for found in collections if _PHYSICAL.fullmatch(found.name)]
        return tuple(sorted(name for name in names if _metadata(self._looked_up(name)).get("made_by") == MADE_BY))

    def claim(self, generation: Generation) -> Claim | None:
        """As the port says."""
        found = self._found(generation)
        return None if found is None else claim_of(_metadata(found).get("claim"))

    def record_claim(self, generation: Generation, claim: Claim) -> None:
        """As the port says."""
        self.existing(generation)
        metadata = {"claim": dataclasses.asdict(claim)}
        failpoint("store.claim")
        self.ask(lambda client: client.update_collection(generation.name, metadata=metadata))
        failpoint("store.claimed")

    def drop(self, generation: Generation) -> None:
        """As the port says."""
        if self._looked_up(generation.name) is None:
            return
        self._found(generation)
        failpoint("store.drop")
        self.ask(lambda client: client.delete_collection(generation.name))
        failpoint("store.dropped")

    def close(self) -> None:
        """As the port says; a second time does nothing."""
        if not self._closed.is_set():
            self._closed.set()
            self._client.close()

    def existing(self, generation: Generation) -> None:
        """Check that the collection exists for this vector space; raises ``StoreMismatch`` otherwise."""
        if self._found(generation) is None:
            raise StoreMismatch(f"{self.url} has no collection {generation.name}: run `ingestd sync`, which makes it")

    def ask(self, request: Callable[[QdrantClient], _Answer]) -> _Answer:
        """Answer of the server to a request, tried as :class:`Attempts` says."""
        if self._closed.is_set():
            raise StoreUnavailable(f"the store at {self.url} was closed")
        with self._guard:
            if not self._checked:
                self._check_version()
                self._checked = True
        return self._attempts(lambda: request(self._client))

    def _check_version(self) -> None:
        version = self._attempts(self._client.info).version
        numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:2])
        if numbers < FLOOR:
            raise StoreMismatch(
                f"the Qdrant server at {self.url} is version {version}: ingestd needs 1.16 or newer, "
                f"which knows collection metadata and conditional upserts"
            )

    def _create(self, generation: Generation) -> bool:
        metadata = {"made_by": MADE_BY, "embed_digest": generation.embed_digest, "claim": None}
        vectors = models.VectorParams(size=generation.dimension, distance=models.Distance.COSINE)
        try:
            return self.ask(
                lambda client: client.create_collection(generation.name, vectors_config=vectors, metadata=metadata)
            )
        except IngestdError as error:
            # A try whose answer was lost had made it.
            if refused_with(error, _EXISTS):
                return True
            raise

    def _index(self, generation: Generation, field: str, kind: str) -> None:
        failpoint("store.index")
        self.ask(lambda client: client.create_payload_index(generation.name, field, _KINDS[kind], wait=True))

    def _aliases(self) -> dict[str, str]:
        aliases = self.ask(lambda client: client.get_aliases()).aliases
        return {alias.alias_name: alias.collection_name for alias in aliases}

    def _looked_up(self, name: str) -> models.CollectionInfo | None:
        if not self.ask(lambda client: client.collection_exists(name)):
            return None
        return self.ask(lambda client: client.get_collection(name))

    def _found(self, generation: Generation) -> models.CollectionInfo | None:
        found = self._looked_up(generation.name)
        if found is None:
            return None
        metadata = _metadata(found)
        if metadata.get("made_by") != MADE_BY:
            raise StoreMismatch(
                f"the collection {generation.name} at {self.url} was not made by ingestd: choose another name"
            )
        vectors = found.config.params.vectors
        has = (vectors.size, vectors.distance) if isinstance(vectors, models.VectorParams) else None
        wanted = (generation.dimension, models.Distance.COSINE)
        if has != wanted or metadata.get("embed_digest") != generation.embed_digest:
            raise StoreMismatch(
                f"the collection {generation.name} at {self.url} holds vectors of another space: {has}, embedder "
                f"{str(metadata.get('embed_digest'))[:12]}; expected {wanted}, {generation.embed_digest[:12]}; "
                f"`ingestd reindex` builds a new generation"
            )
        return found


def _metadata(found: models.CollectionInfo | None) -> dict[str, Any]:
    return {} if found is None else dict(found.config.metadata or {})
