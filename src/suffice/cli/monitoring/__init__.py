"""Commands that ask whether answers can be believed: sets, audits, watches."""
