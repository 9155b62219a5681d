"""Pages that compute: a model in one HTML file, and the playground; one engine in JavaScript."""
