"""The reference model: types, schemas with field ids, traceable values and the truth.

Pure: nothing in here knows an engine, a file format or any input and output.
"""
