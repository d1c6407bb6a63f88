# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Documents to a table
#
# A folder of invoices becomes typed rows. You declare what an invoice is; every file ends as a row of a
# table, or as a *dead letter* that says why not. No value gets in that does not stand in its document.
#
# This runs without a key: a stand-in on this machine answers. It reads labelled lines and is no model, so
# some documents that a model would read end as dead letters here.

# %%
import sys
import tempfile
from pathlib import Path

HERE = Path.cwd()
ROOT = next(folder for folder in [HERE, *HERE.parents] if (folder / "pipelines").is_dir())
sys.path.insert(0, str(ROOT))
STORE = Path(tempfile.mkdtemp()) / "invoices.duckdb"  # give a path of your own to keep it

import duckdb
import polars as pl

from extract import Client, Pipeline, read_documents
from extract.testing import LocalEndpoint

endpoint = LocalEndpoint().start()
client = Client(endpoint.base_url, api_key=endpoint.api_key)
# With a key of your own in EXTRACT_API_KEY: client = Client()

# %% [markdown]
# ## What is read
# One row a file. What cannot be read is a row too, with the reason in `error`; nothing is sent for it.

# %%
documents = read_documents("*", root=ROOT / "pipelines" / "data" / "invoices")
documents.select("path", "media_type", "pages", "error")

# %% [markdown]
# ## What is asked for
# A Pydantic model. `Evidence()` on a field means: the value has to be found in the document.

# %%
from schemas.invoice import Invoice

pipeline = Pipeline(
    Invoice,
    system="You read supplier invoices and return what they say. Never guess; what is not there is null.",
    prompt="{text}",
    client=client,
)
pipeline.compiled  # what goes over the wire, and which rules are checked here instead

# %% [markdown]
# ## The run

# %%
run = pipeline.run(documents, key="path", store=STORE, into="invoices")
run

# %%
run.accepted.select("path", "number", "issued", "supplier", "currency", "total")

# %% [markdown]
# Each value knows where it stands:

# %%
places = run.accepted.head(1).select(pl.col("path").alias("document"), "_evidence")
places.explode("_evidence").unnest("_evidence").select("path", "status", "page", "quote")

# %% [markdown]
# ## Look
# The document on the left, the fields on the right; a click on a field jumps to its place. `j` and `k` go
# through the rows.

# %%
run.show("RE-2026-1187_Nordlicht.txt")

# %% [markdown]
# ## What did not work, and why

# %%
run.dead_letters.select("key", "reason", "attempts")

# %% [markdown]
# Dead letters are run again with what was changed, for example with more effort. Those that are accepted now
# settle into the same table.

# %%
again = pipeline.redrive(STORE, into="invoices", effort="high")
again.report

# %% [markdown]
# ## Run it again
# Nothing is paid twice: every answer is in the store. A new or changed file would be asked for, nothing else.

# %%
second = pipeline.run(documents, key="path", store=STORE, into="invoices")
assert second.report.reused == second.report.accepted
second.report

# %% [markdown]
# ## The table
# It is an ordinary DuckDB table.

# %%
with duckdb.connect(str(STORE), read_only=True) as con:
    totals = pl.DataFrame(
        con.sql("SELECT currency, count(*) AS invoices, sum(total) AS total FROM invoices GROUP BY ALL")
    )
totals

# %%
endpoint.stop()
