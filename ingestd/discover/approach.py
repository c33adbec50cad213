"""Goes down to a directory the way a scan from the top comes to it."""

import os
import stat
from dataclasses import dataclass, replace

from ingestd.beneath import open_beneath, resolve_inside
from ingestd.discover.folder import own_rules
from ingestd.discover.listing import ABSENT, Folder, Looking, holds
from ingestd.discover.rules import Ignored


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """No directory is there that a scan would come to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """The rules leave it out, or a directory above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """It or a directory above it could not be examined."""

    directory: bytes
    """The one that could not."""
    reason: str


Reached = Folder | Gone | Excluded | Unknown


class Approach:
    """Ways to the directories of one scan; each directory above them is examined once."""

    def __init__(self, looking: Looking, top: Folder) -> None:
        self._looking = looking
        self._reached: dict[bytes, Reached] = {b"": top}
        # Those directories above others, with the rules of their own file added.
        self._inside: dict[bytes, Folder | Unknown] = {}

    def to(self, directory: bytes) -> Reached:
        """The directory, or why it cannot be reached. Whether it can be listed is not known yet."""
        reached = self._reached.get(directory)
        if reached is None:
            above, _, name = directory.rpartition(b"/")
            outer = self.to(above)
            if isinstance(outer, Folder):
                outer = self._with_own_rules(outer)
            reached = self._step(outer, directory, name) if isinstance(outer, Folder) else outer
            self._reached[directory] = reached
        return reached

    def _with_own_rules(self, folder: Folder) -> Folder | Unknown | Gone:
        inside = self._inside.get(folder.path)
        if inside is None:
            try:
                fd = open_beneath(self._looking.root_fd, folder.real, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    rules, _ = own_rules(fd, folder.rules)
                    inside = replace(folder, rules=rules, device=os.fstat(fd).st_dev)
                finally:
                    os.close(fd)
            except OSError as error:
                if error.errno in ABSENT:
                    return Gone()
                inside = Unknown(directory=folder.path, reason=error.strerror or str(error))
            self._inside[folder.path] = inside
        return inside

    def _step(self, outer: Folder, directory: bytes, name: bytes) -> Reached:
        if isinstance(outer.rules.verdict(name, is_directory=True), Ignored):
            return Excluded()
        real = outer.real + b"/" + name if outer.real else name
        linked = outer.linked
        try:
            mode = os.stat(real, dir_fd=self._looking.root_fd, follow_symlinks=False).st_mode
        except OSError as error:
            return (
                Gone() if error.errno in ABSENT else Unknown(directory=directory, reason=error.strerror or str(error))
            )
        if stat.S_ISLNK(mode) and self._looking.follow_links and not linked:
            target = resolve_inside(self._looking.root, real)
            if target is None or holds(target, outer.real):
                return Gone()
            real, linked = target, True
        elif not stat.S_ISDIR(mode):
            return Gone()
        return Folder(path=directory, real=real, linked=linked, rules=outer.rules.enter(directory), device=outer.device)
