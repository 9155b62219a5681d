"""The pictures of docs/gallery.md: `python -m suffice.plots.gallery` draws them again."""
