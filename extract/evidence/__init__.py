"""The marker `Evidence` and the alignment of values with their source. Pure."""
