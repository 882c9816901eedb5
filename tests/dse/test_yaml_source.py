from __future__ import annotations

import pytest

from dse.yaml_source import MAX_CHARACTERS, SourceError, read_yaml


def test_positions_of_values_and_keys() -> None:
    source = read_yaml("a: 1\nb:\n  - x\n  - {c: true}\n", "f")
    assert source.data == {"a": 1, "b": ["x", {"c": True}]}
    assert source.position(("b", 1, "c")) == (4, 9)
    assert source.position(("b", 1, "c"), of_key=True) == (4, 6)
    assert source.position(("b", 1, "absent")) == (4, 5)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"), ("on", "on"), ("true", True), ("False", False), ("1:30", "1:30"),
        ("0x1f", 31), ("0o17", 15), ("017", 17), ("1_000", "1_000"), ("-3", -3), ("1e3", 1000.0),
        (".5", 0.5), ("~", None), ("", None), ("'5'", "5"), ("2001-01-01", "2001-01-01"),
        ("<<", "<<"),
    ],
)  # fmt: skip
def test_scalars_follow_the_core_schema_of_yaml_1_2(text: str, value: object) -> None:
    data = read_yaml(f"k: {text}\n", "f").data
    assert data == {"k": value}
    assert type(data["k"]) is type(value)


def test_alias_repeats_its_anchor() -> None:
    assert read_yaml("a: &x [1, 2]\nb: *x\n", "f").data == {"a": [1, 2], "b": [1, 2]}


def test_alias_counts_each_time_it_is_expanded() -> None:
    lists = "\n".join(f"k{i}: &k{i} [{', '.join([f'*k{i - 1}'] * 30)}]" for i in range(1, 5))
    with pytest.raises(SourceError, match=r"^f:4:\d+: error: must hold at most 20000 values"):
        read_yaml(f"k0: &k0 x\n{lists}\n", "f")


def test_long_text_is_refused_unparsed() -> None:
    with pytest.raises(SourceError, match=r"^f:1:1: error: file must be at most 262144 charact"):
        read_yaml("#" * (MAX_CHARACTERS + 1), "f")


def test_every_duplicate_key_is_said() -> None:
    with pytest.raises(SourceError, match=r"twice") as caught:
        read_yaml("a: 1\na: 2\nb: {c: 1, c: 2}\n", "f")
    assert caught.value.lines() == [
        "f:2:1: error: a: key is given twice (first on line 1)",
        "f:3:11: error: b.c: key is given twice (first on line 3)",
    ]
