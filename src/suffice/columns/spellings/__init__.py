"""How the cells of a column are written where they are text, and what they stand for.

    $1,653.76   (12.50)   31 %   1.234,5   −3   12 kg     numbers
    yes/no   ja/nein   oui/non   WAHR/FALSCH              truths

A `Spelling` belongs to a column, is decided by all its cells, and is kept in the model file:
whoever reads rows for the model later reads them alike, and writes what it makes up in the same
way.
"""
