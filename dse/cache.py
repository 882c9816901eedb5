"""`Cache`: results by content digest in one SQLite file shared by every run and process.

Each entry carries a checksum; one that does not match is dropped, counted and computed again. A
folder that cannot be written leaves a cache in memory and a note saying so.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

FILE_NAME = "evaluations.sqlite"
_LOCK_SECONDS = 30.0


def default_folder(environment: Mapping[str, str]) -> Path:
    """The user's cache folder: `DSE_CACHE`, else `$XDG_CACHE_HOME/dse`, else `~/.cache/dse`."""
    if environment.get("DSE_CACHE"):
        return Path(environment["DSE_CACHE"])
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dse"


def digest_of(*parts: str) -> str:
    """BLAKE2b of several texts, kept apart; 32 hex digits."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()


class Cache:
    """A persistent map of (kind, key) to a JSON value.

    `version` is the digest of the code and tools that produce the values: entries of another
    version are never seen. `folder` None keeps everything in this process.

    Attributes:
        notes: What the user should be told: corrupt entries, a folder that cannot be used.
        hits: Number of successful `get`s.
    """

    def __init__(self, folder: Path | None, version: str = "") -> None:
        self.folder = folder
        self.version = version
        self.notes: list[str] = []
        self.hits = 0
        self._memory: dict[str, str] = {}
        self._connection = self._connect(folder) if folder is not None else None

    def get(self, kind: str, key: str) -> Any | None:
        """The stored value, or None."""
        row_key = digest_of(self.version, kind, key)
        payload = self._read(row_key, kind)
        if payload is None:
            return None
        self.hits += 1
        return json.loads(payload)

    def put(self, kind: str, key: str, value: Any) -> None:
        """Store a JSON value; a later `get` in any process finds it."""
        row_key = digest_of(self.version, kind, key)
        payload = json.dumps(value, separators=(",", ":"), allow_nan=False)
        if self._connection is None:
            self._memory[row_key] = payload
            return
        try:
            self._connection.execute(
                "INSERT OR REPLACE INTO entries VALUES (?, ?, ?)",
                (row_key, _checksum(payload), payload),
            )
        except sqlite3.Error as error:
            self._degrade(error)
            self._memory[row_key] = payload

    def memo(self, kind: str, key: str, compute: Callable[[], Any]) -> Any:
        """The stored value, or that of `compute`, which is then stored."""
        found = self.get(kind, key)
        if found is None:
            found = compute()
            self.put(kind, key, found)
        return found

    def close(self) -> None:
        """Close the file; harmless when there is none."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self, folder: Path) -> sqlite3.Connection | None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                folder / FILE_NAME, timeout=_LOCK_SECONDS, isolation_level=None
            )
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS entries "
                "(key TEXT PRIMARY KEY, checksum TEXT, payload TEXT) WITHOUT ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            self.notes.append(
                f"cache {folder} cannot be used ({error}); results are kept in memory only"
            )
            return None
        return connection

    def _read(self, row_key: str, kind: str) -> str | None:
        if row_key in self._memory or self._connection is None:
            return self._memory.get(row_key)
        try:
            row = self._connection.execute(
                "SELECT checksum, payload FROM entries WHERE key = ?", (row_key,)
            ).fetchone()
        except sqlite3.Error as error:
            self._degrade(error)
            return None
        if row is None:
            return None
        checksum, payload = row
        if not isinstance(payload, str) or checksum != _checksum(payload):
            self.notes.append(
                f"cache entry {row_key[:12]} ({kind}) is corrupt; it is computed again"
            )
            return None
        return payload

    def _degrade(self, error: sqlite3.Error) -> None:
        note = f"cache {self.folder} failed ({error}); results from here on are kept in memory only"
        self.notes.append(note)
        self._connection = None


def _checksum(payload: str) -> str:
    return hashlib.blake2b(payload.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
