"""An ETL step: support tickets of a table are triaged into another; the second night asks for what changed.

    python -m extract run pipelines/tickets.py --offline
    python -m extract run pipelines/tickets.py --offline --input pipelines/data/tickets-second-night.jsonl

In a real warehouse `INPUT` is a query over the table: "SELECT … FROM read_duckdb('warehouse.duckdb', …)".
"""

from extract import Pipeline
from schemas.support_ticket import SupportTicket

INPUT = "data/tickets.jsonl"
KEY = "ticket_id"
STORE = "tickets.duckdb"
INTO = "triage"

pipeline = Pipeline(
    SupportTicket,
    system=(
        "You triage support tickets for a company that sells Larkspur Planner, Larkspur Books, the Tern "
        "router and doorbell, Parcelo and Fieldnote. Tickets come in many languages; judge what happened "
        "to the writer, not how loud the words are."
    ),
    prompt="Subject: {subject}\nProduct: {product_line}\n\n{body}",
)
