"""One widget a file, one job a widget."""
