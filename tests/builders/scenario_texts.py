"""The text of a small scenario that several tests write into files."""

MOVED = """\
table:
  columns: {id: string, ts: long, f1: string, f2: string}
  key: id
  order_by: ts
steps:
  - insert: [1, 2]
  - insert: [3]
  - move_column: {name: f1, after: f2}
"""
