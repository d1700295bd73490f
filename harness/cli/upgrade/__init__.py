"""Whether you may upgrade: two sides compared, what helps, and several changes in an order."""
