"""`Run`: the folder of one search, with its space, manifest, trials, front and plots."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from dse.design import Design
from dse.evaluation import Evaluation
from dse.space import Space, parse_space
from dse.vocabulary import Vocabulary

MANIFEST = "manifest.json"
TRIALS = "trials.jsonl"
SPACE = "space.yaml"
FRONT = "front.json"
_LOCK = ".lock"
_SYNC_SECONDS = 0.5
# what must not have changed for a search to be continued
_IDENTITY = ("space_digest", "code_digest", "sampler", "seed", "batch", "exhaustive")


class RunError(ValueError):
    """A run folder that cannot be used as asked; the message says what to do."""


class Run:
    """A run folder held by one search, or opened to be read.

    The log is append-only and made durable after every batch; other files are written aside and
    renamed, so that none is ever half there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logged: list[dict[str, Any]] = []
        self._log: TextIO | None = None
        self._lock: TextIO | None = None
        self._synced = 0.0
        self._repeats: set[str] = set()
        self._counted: list[str] = []
        self._proved: set[str] = set()

    @classmethod
    def claim(cls, folder: Path, manifest: Mapping[str, Any], *, resume: bool) -> Run:
        """Take a folder for a new run, or to continue the one in it; keep other searches out.

        Raises:
            RunError: A run is there and is not to be resumed, or is another search's, or one is
                running in it now; or the folder cannot be written.
        """
        run = cls(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            run._acquire()
            exists = (folder / MANIFEST).exists()
            if exists and not resume:
                raise RunError(
                    f"{folder} already holds a run; continue it with --resume, "
                    "or give another folder with --out"
                )
            if exists:
                run._check_same(manifest)
                run._recover()
        except OSError as error:
            raise _unwritable(folder, error) from None
        except RunError:
            run.close()
            raise
        return run

    def begin(self, manifest: Mapping[str, Any], space: str) -> None:
        """Write the manifest and the text of the space, and open the log.

        Raises:
            RunError: The folder cannot be written.
        """
        try:
            self.write(SPACE, space)
            self.write(MANIFEST, to_text(manifest))
            self._log = (self.folder / TRIALS).open("a", encoding="utf-8")
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    @classmethod
    def open(cls, folder: Path) -> Run:
        """Open a run to read it.

        Raises:
            RunError: There is none.
        """
        if not (folder / MANIFEST).is_file():
            raise RunError(f"RUN must be the folder of a search (with {MANIFEST}), not {folder}")
        return cls(folder)

    def known(self) -> dict[str, Evaluation]:
        """Evaluations the log holds, by the digest of the design that was asked for."""
        found: dict[str, Evaluation] = {}
        by_trial: list[Evaluation] = []
        for line in self.logged:
            if "repeat_of" in line:
                evaluation = next(e for e in by_trial if e.canonical.digest == line["repeat_of"])
            else:
                evaluation = Evaluation.from_json(line)
                by_trial.append(evaluation)
                found[evaluation.canonical.digest] = evaluation
            found[Design(line["asked"]).digest] = evaluation
        return found

    def trial(self, number: int, origin: str, asked: Design, evaluation: Evaluation) -> None:
        """Append a trial, or check that the log already holds just this one.

        Raises:
            RunError: The log disagrees.
        """
        if number < len(self._counted):
            if self._counted[number] != evaluation.canonical.digest:
                raise RunError(
                    f"trial {number} of {self.folder / TRIALS} is not the one this search makes; "
                    "the log was altered; start a new run with --out"
                )
            return
        self._append(
            {"trial": number, "origin": origin, "asked": asked.to_json(), **evaluation.to_json()}
        )
        self._counted.append(evaluation.canonical.digest)

    def repeat(self, asked: Design, evaluation: Evaluation) -> None:
        """Append that `asked` came down to a design counted before."""
        if asked.digest not in self._repeats:
            self._repeats.add(asked.digest)
            self._append({"repeat_of": evaluation.canonical.digest, "asked": asked.to_json()})

    def proved(self, asked: Design, evaluation: Evaluation) -> None:
        """Append a design that no search proposed, unless it is there: it has no number."""
        digest = evaluation.canonical.digest
        if digest not in self._proved:
            self._proved.add(digest)
            line = {"origin": "proved", "asked": asked.to_json(), **evaluation.to_json()}
            self._append({"proved": len(self._proved) - 1, **line})

    def sync(self) -> None:
        """Give the log to the system, which keeps it should this process die.

        Now and then it is made durable against loss of power as well.

        Raises:
            RunError: The folder cannot be written, as on a full disk.
        """
        if self._log is None:
            return
        try:
            self._log.flush()
            if time.monotonic() > self._synced + _SYNC_SECONDS:
                os.fsync(self._log.fileno())
                self._synced = time.monotonic()
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of the run whole: aside, made durable, then renamed.

        Raises:
            RunError: The folder cannot be written.
        """
        path = self.folder / name
        aside = self.folder / f".{name}.part"
        data = content.encode() if isinstance(content, str) else content
        try:
            with aside.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
        except OSError as error:
            raise _unwritable(self.folder, error) from None
        return path

    def read(self, name: str) -> Any:
        """The JSON of one of the run's files.

        Raises:
            RunError: It is absent or unreadable.
        """
        path = self.folder / name
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise RunError(
                f"{path} is not there: the search has not finished; continue it with "
                f"`dse search --resume --out {self.folder}`"
            ) from None
        except (OSError, ValueError) as error:
            raise RunError(f"{path} cannot be read: {error}") from None

    def space(self, vocabulary: Vocabulary) -> Space:
        """The space as it was when the run started; proposals are read where they were.

        Raises:
            SourceError: It can no longer be read.
        """
        text = (self.folder / SPACE).read_text(encoding="utf-8")
        return parse_space(text, Path(self.read(MANIFEST)["space_file"]), vocabulary)

    def trials(self) -> Iterator[dict[str, Any]]:
        """The logged trials, without repeats; a torn last line is passed over.

        Designs that no search proposed come last, numbered on.
        """
        lines = _lines(self.folder / TRIALS)[0]
        trials = [line for line in lines if "trial" in line]
        yield from trials
        counted = {Design(line["design"]).digest for line in trials}
        others = [line for line in lines if "proved" in line]
        apart = [line for line in others if Design(line["design"]).digest not in counted]
        for number, line in enumerate(apart, start=len(trials)):
            yield {"trial": number, **line}

    def close(self) -> None:
        """Release the folder.

        What a full disk keeps from the log here was refused by `sync` before.
        """
        for file in (self._log, self._lock):
            if file is not None:
                with contextlib.suppress(OSError):
                    file.close()
        self._log = self._lock = None

    def _append(self, line: Mapping[str, Any]) -> None:
        assert self._log is not None
        text = json.dumps(line, separators=(",", ":"), allow_nan=False)
        try:
            self._log.write(text + "\n")
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def _acquire(self) -> None:
        self._lock = (self.folder / _LOCK).open("a")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            self._lock = None
            raise RunError(
                f"another search is running in {self.folder}; wait for it, or give --out"
            ) from None

    def _check_same(self, manifest: Mapping[str, Any]) -> None:
        before = self.read(MANIFEST)
        for key in _IDENTITY:
            if before.get(key) != manifest[key]:
                what = {"space_digest": "space", "code_digest": "version of the code"}.get(key, key)
                values = "" if "digest" in key else f": {before.get(key)}, now {manifest[key]}"
                raise RunError(
                    f"run in {self.folder} was made with another {what}{values}; "
                    "restore that, or start a new run with --out"
                )

    def _recover(self) -> None:
        self.logged, valid_bytes = _lines(self.folder / TRIALS)
        path = self.folder / TRIALS
        if path.exists() and valid_bytes < path.stat().st_size:
            with path.open("r+b") as file:
                file.truncate(valid_bytes)
        self._counted = [Design(line["design"]).digest for line in self.logged if "trial" in line]
        repeats = (Design(line["asked"]).digest for line in self.logged if "repeat_of" in line)
        self._repeats = set(repeats)
        self._proved = {Design(line["design"]).digest for line in self.logged if "proved" in line}


def _unwritable(folder: Path, error: OSError) -> RunError:
    return RunError(f"run folder {folder} cannot be written: {error.strerror or error}")


def to_text(data: Any) -> str:
    """JSON as written to a run's files."""
    return json.dumps(data, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _lines(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The complete lines of a log, and how many bytes they take."""
    found: list[dict[str, Any]] = []
    valid = 0
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return found, valid
    for line in content.splitlines(keepends=True):
        try:
            data = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            data = None
        if not isinstance(data, dict):
            break
        found.append(data)
        valid += len(line)
    return found, valid
