"""Pydantic model ↔ wire schema: compile, check, decode, columns. Pure."""
