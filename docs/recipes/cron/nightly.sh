#!/bin/sh
# Every night: new and changed mails become typed rows. In the crontab:
#
#   15 2 * * *  cd /srv/tickets && ./nightly.sh >> nightly.log 2>&1
#
# The exit status says what happened: 0 all rows accepted; 3 finished, some are dead letters (look at them
# with `extract dead-letters`); 4 stopped with rows pending (budget, key, quota, killed): the same line goes
# on where it was; 1 and 2: the call or the configuration is wrong, nothing was sent.
set -u
extract run tickets.py --input mails.parquet --key id --store answers.duckdb --into tickets --json > last-run.json
status=$?
case $status in
  0) ;;
  3) echo "some mails are dead letters: extract dead-letters answers.duckdb" ;;
  4) echo "stopped with mails pending: the next run goes on, nothing is paid twice" ;;
  *) echo "nothing was sent (status $status): see above" ;;
esac
exit $status
