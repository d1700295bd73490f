"""delta-rs in a Python process of its own: Delta's protocol in Rust, and the SQL of DataFusion."""
