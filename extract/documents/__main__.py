"""`python -m extract.documents`: the process that parses. Started by `extract.documents.pool` alone."""

from extract.documents.worker import main

if __name__ == "__main__":
    main()
