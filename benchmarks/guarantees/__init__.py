"""Do answers with guarantees keep them? Coverage of sets, audits of labels, alarms of watches."""
