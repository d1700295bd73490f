"""What a table is: types, schemas with field ids, traceable values, the truth. Pure.

In: a table's definition, and what each step does to it. Out: the rows that the table must have
after each step, by field id. It must not know any engine, file or scenario file.
"""
