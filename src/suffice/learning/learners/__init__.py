"""One learner a subject: what is particular to it about reading, learning and answering."""
