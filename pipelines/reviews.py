"""Labeling: product reviews in ten languages get labels; people's labels stand beside them to compare.

    python -m extract run pipelines/reviews.py --offline

Gold labels for every review are in `data/reviews-gold.jsonl`. The stars are not shown to the model.
"""

from extract import Pipeline
from schemas.review_sentiment import ReviewSentiment

INPUT = "data/reviews.jsonl"
KEY = "review_id"
STORE = "reviews.duckdb"
INTO = "labels"

pipeline = Pipeline(
    ReviewSentiment,
    system=(
        "You label product reviews for what their writers mean. Irony and mixed feelings are common; a "
        "review that only states facts is neutral."
    ),
    prompt="Product: {product}\n\n{text}",
)
