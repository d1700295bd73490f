"""One file per engine: how it is started, asked and understood."""
