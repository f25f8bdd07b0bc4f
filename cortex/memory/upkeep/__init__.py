"""Looking after memory: what is related, contradicts, recurs, fades. Pure functions over notes, and
steps that write what they say in slices with a cursor. What finds notes is not here.
"""
