"""Documents and tables into typed tables."""
