# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # An ETL step
#
# Every night a model is mapped over the new and changed rows of a table. The step has to be boring: it
# never pays twice, never loses finished work, and says why a row did not pass.
#
# This runs without a key: a stand-in on this machine answers. It is no model.

# %%
import sys
import tempfile
from pathlib import Path

HERE = Path.cwd()
ROOT = next(folder for folder in [HERE, *HERE.parents] if (folder / "pipelines").is_dir())
sys.path.insert(0, str(ROOT))
STORE = str(Path(tempfile.mkdtemp()) / "warehouse.duckdb")
DATA = ROOT / "pipelines" / "data"

import duckdb
import polars as pl

from extract import Budget, Client, Prices
from extract.testing import LocalEndpoint
from pipelines.tickets import pipeline as tickets

endpoint = LocalEndpoint("latency=20ms,rate=200,err500=0.02").start()  # with faults, as in life

# %% [markdown]
# ## The warehouse
# The tickets are a DuckDB table. The run keeps its books in the schema `extract` of the same file.

# %%
with duckdb.connect(STORE) as con:
    con.execute(f"CREATE TABLE tickets AS SELECT * FROM read_json('{DATA / 'tickets.jsonl'}')")


def new_tickets() -> pl.DataFrame:
    """What the step runs over: all rows. What is answered already costs nothing."""
    with duckdb.connect(STORE, read_only=True) as con:
        return pl.DataFrame(con.sql("SELECT * FROM tickets ORDER BY ticket_id"))


# %% [markdown]
# ## The first night
# A budget is a promise: the run stops before more is spent, and goes on the next time.

# %%
pipeline = tickets.using(
    client=Client(endpoint.base_url, api_key=endpoint.api_key),
    prices=Prices(input=2, output=10, cache_read="0.2", cache_write_1h=4),
    budget=Budget(usd=5),
)
first = pipeline.run(new_tickets(), key="ticket_id", store=STORE, into="triage")
first

# %%
first.accepted.head()

# %% [markdown]
# `require` makes the task of a scheduler red when too few rows passed. Everything is written all the same.

# %%
first.require(accepted=0.95)

# %% [markdown]
# ## The second night
# Some tickets came in, some were changed. Only those are asked for.

# %%
with duckdb.connect(STORE) as con:
    con.execute(
        f"CREATE TEMP TABLE fresh AS SELECT * FROM read_json('{DATA / 'tickets-second-night.jsonl'}')"
    )
    con.execute("DELETE FROM tickets WHERE ticket_id IN (SELECT ticket_id FROM fresh)")
    con.execute("INSERT INTO tickets BY NAME SELECT * FROM fresh")

second = pipeline.run(new_tickets(), key="ticket_id", store=STORE, into="triage")
assert second.report.requests < first.report.requests
second.report

# %% [markdown]
# ## Stop and go on
# The stop button of the notebook ends a run like Ctrl-C: what is in flight lands, the rest is pending, and
# running the cell again goes on where it ended. A stop can be asked for in code as well, by a budget:

# %%
small = pipeline.using(budget=Budget(requests=20), effort="high")
part = small.run(new_tickets(), key="ticket_id", store=STORE, into="triage_high")
assert part.report.stopped.reason == "budget"
whole = small.using(budget=None).run(new_tickets(), key="ticket_id", store=STORE, into="triage_high")
assert whole.report.pending == 0 and whole.report.reused >= 20
whole.report

# %% [markdown]
# ## What happened
# One page for the whole run: time, cost, cache, dead letters, and the prompt as it was sent.

# %%
page = Path(STORE).with_name("report.html")
page.write_text(first.html(), "utf-8")
f"{page}: {page.stat().st_size / 1000:.0f} kB, open it in a browser"

# %%
endpoint.stop()
