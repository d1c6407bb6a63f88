"""For users' own tests: the local endpoint, scripted replies, record and replay, a clock to turn."""

from extract.testing.clock import VirtualClock
from extract.testing.endpoint import Delay, Knobs, LocalEndpoint, serve
from extract.testing.recording import record, replay
from extract.testing.scripted import Reply, ScriptedReplies, Seen

__all__ = [
    "Delay",
    "Knobs",
    "LocalEndpoint",
    "Reply",
    "ScriptedReplies",
    "Seen",
    "VirtualClock",
    "record",
    "replay",
    "serve",
]
