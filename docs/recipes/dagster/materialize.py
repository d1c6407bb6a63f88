"""Materializes the assets in this process and shows their metadata, as `dagster dev` would by schedule."""

import sys

import dagster as dg
from assets import few_dead_letters, mails, tickets

result = dg.materialize([mails, tickets, few_dead_letters])
(made,) = result.asset_materializations_for_node("tickets")
for name, value in sorted(made.metadata.items()):
    if name != "report":
        print(f"{name}: {value.value}")
sys.exit(0 if result.success else 1)
