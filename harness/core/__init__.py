"""What every package stands on: errors, records and their JSON lines, progress, strict YAML.

In: plain values and files. Out: typed records, or a problem with its file and line. It must not
know any engine, format or verb.
"""
