"""A model that answers, learns and forgets over HTTP: `suffice serve`.

requests.py, answers.py   HTTP as bytes: bounded bodies in, tables out
records.py, bodies.py     rows as a model knows them, from records, columns, CSV, Arrow
served_model.py           one model: what it answers, and the one that takes its place
application.py            routes, tokens, counts; running.py starts it
state/                    the log that is the truth, and the one thread that writes it
"""
