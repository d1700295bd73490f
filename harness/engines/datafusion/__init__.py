"""DataFusion in a Python process of its own; hudi-rs reads Hudi tables for it."""
