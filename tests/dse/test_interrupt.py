"""Ctrl-C is noted, heeded where asked for, and at once the second time."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import pytest

from dse.interrupt import heed, noted


@pytest.fixture(autouse=True)
def _default_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def is_interrupted_by(step: Callable[[], None]) -> bool:
    try:
        step()
    except KeyboardInterrupt:
        return True
    return False


def test_the_first_is_raised_where_it_is_heeded_and_once() -> None:
    with noted():
        signal.raise_signal(signal.SIGINT)
        assert is_interrupted_by(heed)
        assert not is_interrupted_by(heed)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_one_in_a_finaliser_is_not_lost() -> None:
    class Finalised:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    with noted():
        Finalised()
        assert is_interrupted_by(heed)


def test_the_second_is_raised_at_once() -> None:
    with noted():
        signal.raise_signal(signal.SIGINT)
        assert is_interrupted_by(lambda: signal.raise_signal(signal.SIGINT))


def test_one_of_an_earlier_search_is_forgotten() -> None:
    with noted():
        signal.raise_signal(signal.SIGINT)
    with noted():
        assert not is_interrupted_by(heed)


def test_where_it_is_ignored_it_stays_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with noted():
        signal.raise_signal(signal.SIGINT)
        assert not is_interrupted_by(heed)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
