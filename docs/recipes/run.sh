#!/usr/bin/env bash
# Executes every recipe against the local endpoint, in an environment of its own (about a minute to make).
#   docs/recipes/run.sh [PYTHON]      with PYTHON nothing is installed: it has dbt-duckdb and dagster already
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
endpoint=
trap 'test -z "$endpoint" || kill "$endpoint"; rm -rf "$work"' EXIT
if (($#)); then
  python=$1
else
  # dbt-core 1.12 works as well; a part of it is fetched from GitHub while it is installed, which is not open
  # everywhere: DBT_CORE=">=1.12" takes it.
  python3 -m venv "$work/venv"
  python=$work/venv/bin/python
  "$python" -m pip install -q -e "$here/../..[endpoint,arrow]" "dbt-core${DBT_CORE:->=1.10,<1.12}" dbt-duckdb dagster
fi
bin=$(dirname "$python")
export PATH=$bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here DBT_SEND_ANONYMOUS_USAGE_STATS=false
export DAGSTER_DISABLE_TELEMETRY=yes

port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
extract serve --port "$port" --api-key local-key >"$work/endpoint.log" 2>&1 &
endpoint=$!
export EXTRACT_BASE_URL=http://127.0.0.1:$port EXTRACT_API_KEY=local-key
for _ in $(seq 100); do
  "$python" -c "import socket; socket.create_connection(('127.0.0.1', $port)).close()" 2>/dev/null && break
  sleep 0.1
done

echo "=== dbt"
cp -r "$here/dbt" "$work/dbt" && cd "$work/dbt"
dbt run --profiles-dir . --no-use-colors
dbt run --profiles-dir . --no-use-colors --select tickets_typed >/dev/null # pays nothing
"$python" - <<'PY'
import duckdb
with duckdb.connect("warehouse.duckdb") as con:
    rows = con.sql("SELECT id, category, amount FROM tickets_typed ORDER BY id").fetchall()
assert rows == [(1, "billing", 12.5), (2, "delivery", 3.0), (3, "technical", 7.25)], rows
with duckdb.connect("answers.duckdb") as con:
    assert con.sql("SELECT count(*) FROM extract.calls").fetchall() == [(3,)]
print("three rows, three requests, also after a second run")
PY

echo "=== Dagster"
mkdir "$work/dagster" && cd "$work/dagster"
PYTHONPATH=$here:$here/dagster "$python" "$here/dagster/materialize.py" 2>dagster.log || { cat dagster.log; exit 1; }

echo "=== cron"
mkdir "$work/cron" && cd "$work/cron"
cp "$here/tickets.py" "$here/cron/nightly.sh" .
"$python" -c 'import polars as pl; pl.DataFrame({"id": [1, 2], "body": ["Category: billing\nAmount: 1", "?"]}).write_parquet("mails.parquet")'
status=0 && ./nightly.sh || status=$?
test "$status" = 3 # the second mail says nothing
status=0 && EXTRACT_API_KEY=wrong ./nightly.sh || status=$?
test "$status" = 3 # nothing to send any more
"$python" -c 'import polars as pl; pl.DataFrame({"id": [3], "body": ["Category: delivery\nAmount: 2"]}).write_parquet("mails.parquet")'
status=0 && EXTRACT_API_KEY=wrong ./nightly.sh || status=$?
test "$status" = 4
status=0 && ./nightly.sh || status=$?
test "$status" = 0
echo "exit statuses 3, 3, 4, 0 as they should be"
