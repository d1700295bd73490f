"""Which settings of a reader turn a wrong case right, and what else they turn wrong.

Every setting that the engine's file names is tried, alone and together with others, on real
engines; the states are those of the run.
"""
