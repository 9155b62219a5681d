"""Commands about models that are served."""
