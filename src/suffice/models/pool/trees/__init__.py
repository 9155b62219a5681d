"""Members of a pool that are made of trees."""
