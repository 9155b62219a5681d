"""Averages over settings instead of a choice of one: judged by rows as if never seen."""
