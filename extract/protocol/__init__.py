"""The Messages API as data: requests, replies, usage, faults, streams, models. Pure."""
