# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Labeling
#
# Labels from a model are worth what you know about their mistakes. This notebook goes once around: sample →
# run → correct ten → evaluate → examples → run the rest → agreement → report.
#
# It runs without a key: word lists play the model (`wordlist.py`). They are wrong often, so there is
# something to find.

# %%
import json
import sys
import tempfile
from pathlib import Path

HERE = Path.cwd()
ROOT = next(folder for folder in [HERE, *HERE.parents] if (folder / "pipelines").is_dir())
sys.path[:0] = [str(ROOT), str(ROOT / "notebooks")]
FOLDER = Path(tempfile.mkdtemp())  # give a folder of your own to keep the labels

import polars as pl
import wordlist

from extract import Client, labels
from extract.testing import ScriptedReplies
from pipelines.reviews import pipeline as reviews_pipeline

endpoint = ScriptedReplies(wordlist.answer).__enter__()
pipeline = reviews_pipeline.using(client=Client(endpoint.base_url, api_key=endpoint.api_key))
# With a key of your own in EXTRACT_API_KEY: pipeline = reviews_pipeline

# %% [markdown]
# ## Sample
# Forty reviews, with every language in its share. The same seed gives the same rows.

# %%
reviews = pl.read_ndjson(ROOT / "pipelines" / "data" / "reviews.jsonl")
sample = labels.sample(reviews, rows=40, by="language", seed=7)
sample["language"].value_counts(sort=True)

# %% [markdown]
# ## Run

# %%
run = pipeline.run(sample, key="review_id", store=FOLDER / "reviews.duckdb")
run

# %% [markdown]
# ## Which rows first?
# Rows without an answer, with flagged evidence, that had to be asked again, or of a rare class.

# %%
queue = labels.queue(run)
queue.head(10)

# %% [markdown]
# ## Correct ten
# The sheet shows a row beside its text: `a` accepts, the digits pick, `c` changes, `s` skips, `m` is for a
# note. Everything is in the store at once and survives the kernel.

# %%
sheet = labels.sheet(run, keys=queue["key"].head(10).to_list())
sheet

# %% [markdown]
# The same through plain functions. Here the hand-made labels of the repository play the person.

# %%
gold = {row["review_id"]: row for row in map(json.loads, (ROOT / "pipelines/data/reviews-gold.jsonl").open())}
book = labels.book(run, who="you")
for key in queue["key"].head(10):
    right = {name: value for name, value in gold[key].items() if name != "review_id"}
    answer = book.entry(key).value
    wrong = {name: value for name, value in right.items() if answer is None or answer[name] != value}
    if answer is None:
        book.change(key, "", right)
        continue
    for name, value in wrong.items():
        book.change(key, name, value)
    book.accept(key)
book

# %% [markdown]
# ## Evaluate
# Against the ten that were looked at. Ten rows leave a wide interval: say so when you pass the figure on.

# %%
labels.evaluate(run, book)

# %% [markdown]
# Against all the gold there is for the sample. Rows and fields without gold count for nothing.

# %%
everything = labels.evaluate(run, ROOT / "pipelines" / "data" / "reviews-gold.jsonl")
everything

# %%
everything.confusion("sentiment")

# %% [markdown]
# ## Examples for the next run
# What was corrected becomes part of the prompt. Is it better, or is it chance?

# %%
taught = pipeline.using(examples=book.examples())
again = taught.run(sample, key="review_id", store=FOLDER / "taught.duckdb")
fresh = [row for key, row in gold.items() if key not in set(queue["key"].head(10))]
labels.compare(run, again, fresh)

# %% [markdown]
# ## Run the rest

# %%
whole = taught.run(reviews, key="review_id", store=FOLDER / "taught.duckdb")
assert whole.report.reused >= again.report.accepted
labels.evaluate(whole, ROOT / "pipelines" / "data" / "reviews-gold.jsonl")

# %% [markdown]
# ## Agreement
# A model against people, beyond what chance would bring. Against itself: ask the same again, in a
# store that knows no answer yet.

# %%
second = taught.run(sample, key="review_id", store=FOLDER / "second.duckdb")
labels.agreement(whole, second)

# %%
labels.agreement(whole, ROOT / "pipelines" / "data" / "reviews-gold.jsonl")

# %% [markdown]
# ## Take it along
# Labels as typed Parquet or as JSON lines, and one page about the run.

# %%
book.export(FOLDER / "labels.parquet")
book.export(FOLDER / "labels.jsonl")
(FOLDER / "report.html").write_text(whole.html(), "utf-8")
sorted(path.name for path in FOLDER.iterdir())

# %%
sheet.close()
endpoint.__exit__(None, None, None)
