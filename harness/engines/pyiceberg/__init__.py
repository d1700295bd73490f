"""PyIceberg in a Python process of its own, by the metadata file that the metastore names."""
