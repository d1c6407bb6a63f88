"""Output models to start from. Copy the file that is nearest to your documents and change it."""
