"""READ: states and cells → answers.

In: table states as they were recorded, and the cells about them. Out: an answer for every cell, as
it comes. It must not know the truth of a row: whether an answer is right is not its business.
"""
