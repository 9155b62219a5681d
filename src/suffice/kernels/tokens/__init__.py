"""Terms of documents: found, hashed or numbered, and counted."""
