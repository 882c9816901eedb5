from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from dse.cache import FILE_NAME, Cache, default_folder, digest_of


def test_value_is_found_by_another_cache_of_the_same_version(tmp_path: Path) -> None:
    one = Cache(tmp_path, "v1")
    assert one.get("area", "k") is None
    one.put("area", "k", {"ge": 12.5, "names": ["a"]})
    other = Cache(tmp_path, "v1")
    assert other.get("area", "k") == {"ge": 12.5, "names": ["a"]}
    assert (other.hits, one.hits) == (1, 0)
    assert other.get("cycles", "k") is None
    assert Cache(tmp_path, "v2").get("area", "k") is None


def test_memo_computes_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    calls: list[int] = []

    def compute() -> int:
        calls.append(1)
        return 42

    assert [cache.memo("kind", "key", compute) for _ in range(3)] == [42, 42, 42]
    assert len(calls) == 1


@pytest.mark.parametrize("column", ["payload", "checksum"])
def test_corrupt_entry_is_dropped_and_said(tmp_path: Path, column: str) -> None:
    cache = Cache(tmp_path)
    cache.put("area", "k", 1)
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute(f"UPDATE entries SET {column} = '2'")
    connection.close()
    assert cache.get("area", "k") is None
    (note,) = cache.notes
    assert note.endswith("(area) is corrupt; it is computed again")
    cache.put("area", "k", 1)
    assert cache.get("area", "k") == 1


def test_file_that_is_no_database_leaves_a_cache_in_memory(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"not a database" * 100)
    cache = Cache(tmp_path)
    assert "cannot be used (file is not a database)" in cache.notes[0]
    cache.put("area", "k", 1)
    assert cache.get("area", "k") == 1


def test_folder_that_cannot_be_made_leaves_a_cache_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "below")
    assert "results are kept in memory only" in cache.notes[0]
    assert cache.memo("area", "k", lambda: 5) == 5


def test_value_that_is_not_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"Out of range float values are not JSON compliant"):
        Cache(tmp_path).put("area", "k", float("nan"))


def test_two_processes_write_one_file(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from dse.cache import Cache\n"
        "cache = Cache(Path(sys.argv[1])); base = int(sys.argv[2])\n"
        "for i in range(300): cache.put('k', str(base + i), base + i)\n"
        "sys.exit(len(cache.notes))"
    )
    root = Path(__file__).parent.parent.parent
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(base)], cwd=root)
        for base in (0, 1000)
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    cache = Cache(tmp_path)
    assert all(cache.get("k", str(b + i)) == b + i for b in (0, 1000) for i in range(300))


def test_parts_of_a_digest_are_kept_apart() -> None:
    assert digest_of("ab", "c") != digest_of("a", "bc")


def test_default_folder_by_environment() -> None:
    assert default_folder({"DSE_CACHE": "/a"}) == Path("/a")
    assert default_folder({"XDG_CACHE_HOME": "/b"}) == Path("/b/dse")
    assert default_folder({}) == Path.home() / ".cache" / "dse"
