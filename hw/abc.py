"""ABC: one yosys-abc of the pyosys wheel a process, started once and asked many times."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hw.liberty import liberty_text

__all__ = ["DRIVER", "TIMEOUT_S", "AbcError", "AbcRun", "abc_path", "run_abc"]

TIMEOUT_S = 120.0

DRIVER = "INV"
"""The cell that drives every source: what a flip-flop's output stage is like."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_END = "=== done ==="
_FAILED = ("** cmd error", "Cannot open")
_READ_LIBRARY = "read_constr {0}/driver.constr\nread_lib -w {0}/ge.lib\n"


class AbcError(RuntimeError):
    """Raised when yosys-abc is missing, fails or takes too long."""


@dataclass(frozen=True)
class AbcRun:
    """What yosys-abc printed, without colours, and the result files that it wrote."""

    log: str
    results: Mapping[str, bytes]


def abc_path() -> Path:
    """Return where the yosys-abc program of the pyosys wheel is."""
    spec = importlib.util.find_spec("pyosys")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        path = Path(folder) / "yosys-abc"
        if path.is_file():
            return path
    raise AbcError(
        "the mapped rung needs yosys-abc from the pyosys wheel; install it with "
        "'pip install pyosys' or use the estimate rung"
    )


class _Server:
    """A yosys-abc that waits for commands and has read the library of `hw.liberty`.

    It ends by itself when this process does, since its input ends then.
    """

    def __init__(self, program: Path) -> None:
        self.process = subprocess.Popen(
            [str(program), "-s"],
            # Scripts name files relative to it: its own path may hold what ABC would split.
            cwd=tempfile.gettempdir(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        )
        library = {"ge.lib": liberty_text(), "driver.constr": f"set_driving_cell {DRIVER}\n"}
        try:
            self.run(_READ_LIBRARY, library, (), TIMEOUT_S)
        except BaseException:
            self.end()
            raise

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def run(
        self,
        script: str,
        files: Mapping[str, str | bytes],
        results: tuple[str, ...],
        timeout_s: float,
    ) -> AbcRun:
        with tempfile.TemporaryDirectory(prefix="dse-abc-") as folder:
            work = Path(folder)
            for name, content in files.items():
                data = content if isinstance(content, bytes) else content.encode("ascii")
                (work / name).write_bytes(data)
            (work / "script").write_text(script.format(work.name), encoding="ascii")
            log = self._answer(f"source {work.name}/script\necho {_END}\n", timeout_s)
            for line in log.splitlines():
                if line.startswith(_FAILED):
                    raise AbcError(f"yosys-abc failed: {line}")
            return AbcRun(log, {n: (work / n).read_bytes() for n in results if (work / n).exists()})

    def _answer(self, commands: str, timeout_s: float) -> str:
        """Return what is printed until the end mark, which stands on a line of its own."""
        assert self.process.stdin
        assert self.process.stdout
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(commands.encode("ascii"))
        deadline = time.monotonic() + timeout_s
        found = bytearray()
        while f"\n{_END}".encode("ascii") not in found:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                raise AbcError(f"yosys-abc must finish in {timeout_s:g} s, it did not")
            part = os.read(self.process.stdout.fileno(), 1 << 16)
            if not part:
                raise AbcError(f"yosys-abc failed with code {self.process.wait()}")
            found += part
        return _COLOUR.sub("", found.decode("ascii", "replace"))

    def end(self) -> None:
        """End the program, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()


_servers: dict[int, _Server] = {}
"""The program of each process, by its id: a forked process starts one of its own."""


def run_abc(
    script: str,
    files: Mapping[str, str | bytes],
    results: tuple[str, ...] = (),
    timeout_s: float = TIMEOUT_S,
) -> AbcRun:
    """Run the lines of `script` in yosys-abc and return what it printed and wrote.

    The program is started by the first call, in 25 ms, and has read the library of `hw.liberty`,
    with a `DRIVER` for every source. A script that reads all else that it needs gives a result
    that depends on nothing that ran before. After an error the program is started anew.

    Args:
        script: ABC commands, one or several a line; {0} is the folder of the files.
        files: Content of each file that the script reads, by name.
        results: Files that it may write.
        timeout_s: Seconds after which the program is killed.

    Raises:
        AbcError: when yosys-abc is missing, fails, or takes longer than `timeout_s`.
    """
    program = abc_path()
    server = _servers.get(os.getpid())
    if server is not None and not server.is_alive:
        server.end()
        server = None
    if server is None:
        server = _servers[os.getpid()] = _Server(program)
    try:
        return server.run(script, files, results, timeout_s)
    except BaseException:
        server.end()
        raise


@atexit.register
def _end() -> None:
    server = _servers.get(os.getpid())
    if server is not None:
        server.end()
