"""Files shipped with the project, by name, so that `dse search aes` works outside a checkout."""

from __future__ import annotations

from pathlib import Path

from dse.suggestion import one_of, suggest

_HERE = Path(__file__).parent


def bundled_folder(kind: str) -> Path:
    """The folder of one kind of shipped files (`spaces`, `baselines`), in a wheel or a checkout."""
    in_wheel = _HERE / "bundled_files" / kind
    return in_wheel if in_wheel.is_dir() else _HERE.parent / kind


def bundled_names() -> tuple[str, ...]:
    """Names of the bundled spaces, sorted."""
    return tuple(sorted(file.stem for file in bundled_folder("spaces").glob("*.yaml")))


def find_space(name: str) -> Path:
    """The file of a space given by path, or by the name of a bundled one.

    Raises:
        ValueError: There is no such file and no such bundled space.
    """
    path = Path(name)
    if path.is_file():
        return path
    names = bundled_names()
    if name in names:
        return bundled_folder("spaces") / f"{name}.yaml"
    hint = suggest(path.stem, names)
    raise ValueError(
        f"SPACE must be a file or a bundled space ({one_of(names)}), not {name!r}{hint}"
    )
