"""Documents to a table: a folder of supplier invoices becomes typed rows.

    python -m extract run pipelines/invoices.py --offline

The four names in capitals are what `extract run` uses where the command line says nothing; `INPUT` is
relative to this file, `STORE` to the folder you are in.
"""

from extract import Pipeline
from schemas.invoice import Invoice

INPUT = "data/invoices/*"
KEY = "path"
STORE = "invoices.duckdb"
INTO = "invoices"

pipeline = Pipeline(
    Invoice,
    system=(
        "You read supplier invoices and return what they say. Take every value from the document as it "
        "stands there; a number keeps its sign, so a credit note has negative amounts. A value that the "
        "document does not give is null: never guess, never work one out."
    ),
    prompt="{text}",
)
