"""The local endpoint: a service of the documents' contract on a loopback port, without a model."""

from extract.testing.endpoint.knobs import Delay, Knobs
from extract.testing.endpoint.local import LOCAL_KEY, WHAT_IT_IS, LocalEndpoint, serve

__all__ = ["LOCAL_KEY", "WHAT_IT_IS", "Delay", "Knobs", "LocalEndpoint", "serve"]
