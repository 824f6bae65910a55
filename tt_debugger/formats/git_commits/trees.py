"""Trees: the files of a commit, read from its trees and blobs, each of which is read once.

Two trees of one hash are the same, so a comparison looks only into those that differ. What a file
is shown as depends on its blob, and on how much text there is in the whole tree: of a very large
one only the small files are text. So two states share every file that did not change between them.
"""

from __future__ import annotations

import base64
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import add, sub
from typing import Any, Protocol

import msgspec

from tt_debugger.storage.git import GitObject

STEPS = (256 << 10, 64 << 10, 16 << 10, 4 << 10)
"""Bytes up to which a file is shown: the first of these with which the whole is not too much."""
MOST_TEXT = 64 << 20
"""Bytes of files that a state may hold."""
MOST_FILES = 500_000
"""Files that a state may name."""
MOST_DEEP = 256
"""Folders within folders that are looked into."""
_MOST_TREES = 200_000
"""Trees that are read for one state."""
_TREES_KEPT = 20_000
_BLOBS_KEPT = 96 << 20
"""Bytes of files that are kept; more than the states of a commit and its parent have."""
_SIZES_KEPT = 2_000_000
_SHAPES_KEPT = 200_000

_LINK, _MODULE, _PROGRAM = 0o120000, 0o160000, 0o100755
_TREE_MODES = (b"40000", b"040000")
_KIND = 0o170000
_MOST_DIGITS = 7
_ENTRIES = {
    size: re.compile(rb"([0-7]{1,7}) ([^\0]*)\0(.{%d})" % size, re.DOTALL) for size in (20, 32)
}
"""What is in a tree, by the bytes of its hashes."""

Tree = dict[bytes, tuple[bytes, bytes]]
"""A tree as it is stored: by name a mode in octal digits and a hash."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A file of a tree: its mode, and the hash of the object that holds it."""

    mode: int
    name: str

    @property
    def is_module(self) -> bool:
        """Whether it is a commit of another repository."""
        return self.mode & _KIND == _MODULE

    @property
    def is_link(self) -> bool:
        """Whether it is a link, whose object holds where it leads to."""
        return self.mode & _KIND == _LINK

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder that is too deep to be looked into."""
        return not self.is_link and not self.mode & 0o100000


class Shape(msgspec.Struct, frozen=True, gc=False):
    """How much there is below a tree: files, programs among them, and bytes.

    The bytes are those of the files up to each of `STEPS`.
    """

    files: int = 0
    programs: int = 0
    sizes: tuple[int, ...] = (0,) * len(STEPS)

    @property
    def is_too_large(self) -> bool:
        """Whether there is too much to be named."""
        return self.files > MOST_FILES

    @property
    def most(self) -> int:
        """The bytes up to which a file is shown."""
        fit = (step for step, size in zip(STEPS, self.sizes, strict=True) if size <= MOST_TEXT)
        return next(fit, 0)

    def __add__(self, other: Shape) -> Shape:
        sizes = map(add, self.sizes, other.sizes)
        return Shape(self.files + other.files, self.programs + other.programs, tuple(sizes))

    def __sub__(self, other: Shape) -> Shape:
        sizes = map(sub, self.sizes, other.sizes)
        return Shape(self.files - other.files, self.programs - other.programs, tuple(sizes))


class Reads(Protocol):
    """What gives objects by their hashes."""

    def sizes(self, names: Sequence[str]) -> list[GitObject | None]:
        """Give the type and size of objects, None for those that are not there."""
        ...

    def contents(self, names: Sequence[str]) -> list[GitObject | None]:
        """Give objects with their bytes."""
        ...


_BOTTOMLESS = Shape(files=MOST_FILES + 1)


class Trees:
    """The trees of a repository, as far as they were asked for."""

    def __init__(self, objects: Reads) -> None:
        self._objects = objects
        self._trees: OrderedDict[str, Tree] = OrderedDict()
        self._shapes: dict[str, Shape] = {}
        self._sizes: dict[str, int | None] = {}
        self._blobs: OrderedDict[str, Any] = OrderedDict()
        self._blob_bytes = 0
        self._last: tuple[str, dict[str, Any]] = ("", {})
        # Asked for twice in a row: what there is, and how much.
        self._last_pair: tuple[tuple[str, str], tuple[dict[str, Entry], dict[str, Entry]]] = (
            ("", ""),
            ({}, {}),
        )

    def files(self, name: str) -> Any:
        """Give the files of a tree by path; not to be mutated. What is too much is not read."""
        if not name:
            return {}
        last, known = self._last
        if last == name:
            return known
        shape = self.shape(name)
        if shape.is_too_large:
            return {"$opaque": "tree", "size": shape.files, "tree": name}
        if last and self.shape(last).most == shape.most:
            old, new = self.differences(last, name)
            gone = old.keys() - new.keys()
            kept = {path: each for path, each in known.items() if path not in gone}
            files = (kept if gone else known) | self.values(new, shape.most)
        else:
            files = self.values(dict(self.entries(name)), shape.most)
        self._last = name, files
        return files

    def programs(self, name: str) -> dict[str, str]:
        """Give the mode of each file that can be run, by path."""
        shape = self.shape(name) if name else Shape()
        if shape.is_too_large or not shape.programs:
            return {}
        return {path: "100755" for path, each in self.entries(name) if each.mode == _PROGRAM}

    def shape(self, name: str) -> Shape:
        """Give how much there is below a tree."""
        known = self._shapes.get(name)
        if known is None:
            last = self._last[0]
            if last in self._shapes and last != name:
                return self.shape_after(last, name)
            known = self._keep_shape(name, self._whole_shape(name))
        return known

    def shape_after(self, before: str, after: str) -> Shape:
        """Give the same by that of another tree, from which it does not differ much."""
        known = self._shapes.get(after)
        if known is not None:
            return known
        start = self.shape(before)
        if start.is_too_large:
            return self._keep_shape(after, self._whole_shape(after))
        old, new = self.differences(before, after)
        self._learn_sizes(each.name for files in (old, new) for each in files.values())
        shape = start - self._sum(old.values()) + self._sum(new.values())
        return self._keep_shape(after, shape)

    def entries(self, name: str) -> Iterator[tuple[str, Entry]]:
        """Go over the files of a tree, each with its path."""
        waiting = [("", name, 0)]
        while waiting:
            prefix, tree, deep = waiting.pop()
            for own, (mode, data) in self._tree(tree).items():
                path = f"{prefix}{text_of(own)}"
                if mode in _TREE_MODES and deep < MOST_DEEP:
                    waiting.append((f"{path}/", data.hex(), deep + 1))
                else:
                    yield path, Entry(int(mode, 8), data.hex())

    def differences(self, before: str, after: str) -> tuple[dict[str, Entry], dict[str, Entry]]:
        """Give the files that differ between two trees: as they were, and as they are."""
        pair, known = self._last_pair
        if pair == (before, after):
            return known
        found: tuple[dict[str, Entry], dict[str, Entry]] = {}, {}
        waiting = [("", (before, after), 0)]
        while waiting:
            prefix, both, deep = waiting.pop()
            one, other = (self._tree(each).items() for each in both)
            sides = dict(one - other), dict(other - one)
            for own in sorted(sides[0].keys() | sides[1].keys()):
                path = f"{prefix}{text_of(own)}"
                below = ["", ""]
                for place, side in enumerate(sides):
                    mode, data = side.get(own, (b"", b""))
                    if mode in _TREE_MODES and deep < MOST_DEEP:
                        below[place] = data.hex()
                    elif mode:
                        found[place][path] = Entry(int(mode, 8), data.hex())
                if below[0] != below[1]:
                    waiting.append((f"{path}/", (below[0], below[1]), deep + 1))
        self._last_pair = (before, after), found
        return found

    def values(self, entries: Mapping[str, Entry], most: int) -> dict[str, Any]:
        """Give what files are shown as: text, bytes, or what stands for what was not read."""
        blobs = [e.name for e in entries.values() if not e.is_module and not e.is_folder]
        self._learn_sizes(blobs)
        wanted = [name for name in dict.fromkeys(blobs) if self._is_shown(name, most)]
        known = {name: self._blobs[name] for name in wanted if name in self._blobs}
        missing = [name for name in wanted if name not in known]
        for name, found in zip(missing, self._objects.contents(missing), strict=True):
            known[name] = self._keep(name, found)
        for name in known:
            if name in self._blobs:
                self._blobs.move_to_end(name)
        return {path: self._value(each, known) for path, each in entries.items()}

    def blob(self, tree: str, path: str) -> str | None:
        """Give the hash of the file or folder at a path, None where there is none."""
        for own in path.split("/"):
            entry = self._tree(tree).get(own.encode())
            if entry is None:
                return None
            tree = entry[1].hex()
        return tree

    def names(self, tree: str) -> Sequence[str]:
        """Give the names in a tree."""
        return tuple(map(text_of, self._tree(tree)))

    def _value(self, entry: Entry, known: Mapping[str, Any]) -> Any:
        if entry.is_module:
            return {"$type": "git.submodule", "$value": entry.name}
        if entry.is_folder:
            return {"$opaque": "tree", "size": None, "tree": entry.name}
        if entry.name in known:
            value = known[entry.name]
            return {"$type": "git.symlink", "$value": value} if entry.is_link else value
        size = self._sizes.get(entry.name)
        kind = "missing blob" if size is None else "blob"
        return {"$opaque": kind, "size": size, "blob": entry.name}

    def _is_shown(self, name: str, most: int) -> bool:
        size = self._sizes.get(name)
        return size is not None and size <= most

    def _keep(self, name: str, found: GitObject | None) -> Any:
        """Give what a blob is shown as, and keep it while there is room."""
        if found is None or found.data is None:
            return {"$opaque": "damaged blob", "size": self._sizes.get(name), "blob": name}
        value = _shown(found.data)
        self._blobs[name] = value
        self._blob_bytes += found.size
        while self._blob_bytes > _BLOBS_KEPT and len(self._blobs) > 1:
            oldest, _ = self._blobs.popitem(last=False)
            self._blob_bytes -= self._sizes.get(oldest) or 0
        return value

    def _learn_sizes(self, blobs: Iterable[str]) -> None:
        asked = list(dict.fromkeys(blobs))
        missing = [name for name in asked if name not in self._sizes]
        if len(self._sizes) + len(missing) > _SIZES_KEPT:
            self._sizes.clear()
            self._blobs.clear()
            self._blob_bytes, missing = 0, asked
        for name, found in zip(missing, self._objects.sizes(missing), strict=True):
            self._sizes[name] = found.size if found is not None and found.type == "blob" else None

    def _tree(self, name: str) -> Tree:
        """Give a tree, an empty one for one that is missing or damaged."""
        if not name:
            return {}
        known = self._trees.get(name)
        return self._fetch([name])[name] if known is None else known

    def _fetch(self, names: Sequence[str]) -> dict[str, Tree]:
        """Give trees, and keep them for a while."""
        found = {name: self._trees[name] for name in names if name in self._trees}
        missing = [name for name in names if name not in found]
        for name, each in zip(missing, self._objects.contents(missing), strict=True):
            data = each.data if each is not None and each.type == "tree" else None
            found[name] = self._trees[name] = parsed(data or b"", len(name) // 2)
        while len(self._trees) > _TREES_KEPT:
            self._trees.popitem(last=False)
        return found

    def _keep_shape(self, name: str, shape: Shape) -> Shape:
        if len(self._shapes) > _SHAPES_KEPT:
            self._shapes.clear()
        self._shapes[name] = shape
        return shape

    def _whole_shape(self, root: str) -> Shape:
        """Add up all that is below a tree; each tree that it has several times is read once."""
        below = self._trees_below(root)
        if below is None:
            return _BOTTOMLESS
        inside = {name: self._parted(tree) for name, tree in below.items()}
        self._learn_sizes(each.name for files, _ in inside.values() for each in files)
        shapes = {
            name: self._shapes[name]
            for _, folders in inside.values()
            for name in folders
            if name in self._shapes and name not in inside
        }
        # Without recursion: a tree may be deeper than Python's stack.
        waiting = [root]
        while waiting:
            files, folders = inside[waiting[-1]]
            unknown = [name for name in folders if name not in shapes]
            if unknown:
                waiting += unknown
                continue
            shapes[waiting.pop()] = sum((shapes[name] for name in folders), self._sum(files))
        self._shapes |= shapes
        return shapes[root]

    def _parted(self, tree: Tree) -> tuple[list[Entry], list[str]]:
        """Give the files of a tree, and the hashes of its folders."""
        modes = {mode: int(mode, 8) for mode, _ in tree.values()}
        files = [
            Entry(modes[mode], data.hex())
            for mode, data in tree.values()
            if mode not in _TREE_MODES
        ]
        return files, [data.hex() for mode, data in tree.values() if mode in _TREE_MODES]

    def _trees_below(self, root: str) -> dict[str, Tree] | None:
        """Read all trees below one whose shapes are not known, level by level."""
        found: dict[str, Tree] = {}
        level = [root]
        while level:
            found |= self._fetch(level)
            if len(found) > _MOST_TREES:
                return None
            inside = (each for name in level for each in found[name].values())
            new = dict.fromkeys(data.hex() for mode, data in inside if mode in _TREE_MODES)
            level = [name for name in new if name not in found and name not in self._shapes]
        return found

    def _sum(self, files: Iterable[Entry]) -> Shape:
        count, programs, sizes = 0, 0, [0] * len(STEPS)
        for each in files:
            count, programs = count + 1, programs + (each.mode == _PROGRAM)
            size = self._sizes.get(each.name)
            # Most files are small, and in all of the sums.
            for place, step in enumerate(STEPS) if size else ():
                if size is None or size > step:
                    break
                sizes[place] += size
        return Shape(count, programs, tuple(sizes))


def parsed(data: bytes, size: int) -> Tree:
    """Read the bytes of a tree, whose hashes have a size, as far as they make sense."""
    return {name: (mode, value) for mode, name, value in _ENTRIES[size].findall(data)}


def text_of(name: bytes) -> str:
    """Give a name, which may be any bytes, as text of its own; no slash is in one."""
    try:
        text = name.decode()
    except UnicodeDecodeError:
        text = name.replace(b"\\", b"\\x5c").decode(errors="backslashreplace")
    else:
        # What looks like an escaped byte but is none must not be taken for one.
        text = text.replace("\\x", "\\x5cx")
    return text.replace("/", "\\x2f")


def _shown(data: bytes) -> Any:
    """Give a file as text, or if it is none as bytes."""
    if b"\0" not in data:
        try:
            return data.decode()
        except UnicodeDecodeError:
            pass
    return {"$bytes": base64.b64encode(data).decode()}
