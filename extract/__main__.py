"""`python -m extract`."""

from extract.cli import main

main()
