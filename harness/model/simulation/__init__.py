"""What a reader would answer that maps columns by id, by name, by position … Pure.

In: the truth, and what data files say of themselves. Out: the rows and
origins of each read strategy. It must not know what any engine answered.
"""
