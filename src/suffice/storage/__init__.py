"""Models on disk: checked before they are believed, written whole or not at all."""
