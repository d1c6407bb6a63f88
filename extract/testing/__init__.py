"""For users' own tests: the local endpoint, scripted replies, record and replay, a clock to turn."""

from extract.testing.endpoint import Knobs, LocalEndpoint, serve

__all__ = ["Knobs", "LocalEndpoint", "serve"]
