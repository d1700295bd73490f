"""READ: states and cells → answers, as they come. It must not know the truth of a row."""
