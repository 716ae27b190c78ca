"""The passes that the Anatomy page takes apart, shared by the sessions that look at the same sentence."""

from __future__ import annotations

from transformer import Trace
from transformer.analysis.lens import Lens, lens
from transformer.analysis.stream import Stream, stream
from ui.state.cache import kept
from ui.state.models import translator, version


def stream_of(name: str, trace: Trace) -> Stream:
    """The residual stream of a trace's own source and target."""
    return _stream(name, version(name), tuple(trace.source.ids), tuple(trace.target.ids))


def lens_of(name: str, trace: Trace) -> Lens:
    """The decoder of that pass, read at every layer."""
    return _lens(name, version(name), tuple(trace.source.ids), tuple(trace.target.ids))


@kept(20, "Following the residual stream")
def _stream(name: str, version: tuple[int, ...], source: tuple[int, ...], target: tuple[int, ...]) -> Stream:
    return stream(translator(name).model, source, target)


@kept(20, "Reading every layer")
def _lens(name: str, version: tuple[int, ...], source: tuple[int, ...], target: tuple[int, ...]) -> Lens:
    predictions = lens(_stream(name, version, source, target))
    for array in predictions:
        array.setflags(write=False)
    return predictions
