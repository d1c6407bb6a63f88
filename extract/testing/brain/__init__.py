"""Reads labelled lines and tables of a document into a schema; never invents. Pure."""

from extract.testing.brain.read import Reading, read

__all__ = ["Reading", "read"]
