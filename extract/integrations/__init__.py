"""Where the data lives: Polars, DuckDB, Ray Data, OpenTelemetry. Each is imported by its own name.

Nothing here is imported by `import extract`, and nothing below knows that it exists.
"""
