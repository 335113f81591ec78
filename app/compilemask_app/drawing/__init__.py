"""Pure drawing: arrays in, rows of styled runs out; no widgets."""
