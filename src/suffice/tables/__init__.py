"""Tables in files and pipes: bytes to cells, checked before they are believed."""
