"""Commands with wrong tables, files and options."""

from __future__ import annotations

import gzip
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import suffice
from tests.reference.refusals import CommandCase, own_folder, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reference.refusals import Cases

HEADER = b"size,colour,petals,scented,kind\n"
FLOWERS = (
    HEADER
    + b"1.5,red,5,true,rose\n1.7,red,5,true,rose\n1.4,white,5,true,rose\n1.6,,6,false,rose\n"
    + b",red,5,true,rose\n0.3,white,12,false,daisy\n0.4,white,13,false,daisy\n"
    + b"0.2,yellow,15,false,daisy\n0.35,white,11,true,daisy\n0.25,,14,false,daisy\n"
)
NUMBERS = b"a,b,y\n" + b"".join(
    b"%d,%d,%s\n" % (i * 5 % 7, i * 3 % 11, b"xz"[i % 2 : i % 2 + 1]) for i in range(24)
)
LETTERS = {
    "ham": b"lunch bob report agenda monday".split(),
    "spam": b"cheap pills winner click offer".split(),
}
TABLES: dict[str, bytes] = {
    "empty.csv": b"",
    "blank.csv": b"\n\n \n",
    "header.csv": b"size,colour,petals,scented,kind\n",
    "ragged.csv": b"a,b,y\n1,2,x\n1,2\n",
    "wide.csv": b"a,b,y\n1,2,x\n1,2,z,9\n",
    "quoted.csv": b'a,b,y\n1,"p\nq",x\n1,2,x,9\n',
    "open.csv": b'a,y\n"1,x\n2,z\n',
    "stray.csv": b'a,b,y\n1,5"0,x\n2,"6"0,z\n3,7,x\n',
    "twice.csv": b"a,a,y\n1,2,x\n3,4,z\n",
    "unnamed.csv": b"a,,y\n1,2,x\n3,4,z\n",
    "alone.csv": b"y\nx\nz\n",
    "infinite.csv": b"a,y\n1,x\ninf,x\n2,z\n3,z\n",
    "latin.csv": b"a,y\n1,\xe9\n2,z\n",
    "zeros.csv": b"a,y\n1,\0x\n2,z\n",
    "picture.csv": b"\x89PNG\r\n\x1a\n\0\0\0",
    "sheet.csv": b"PK\x03\x04rest",
    "garbage.csv": bytes(range(256)) * 4,
    "packed.csv": gzip.compress(b"")[:12],
    "bad.json": b'{"a": 1\n{"a": 2}\n',
    "nested.json": b'{"a": [1], "y": "x"}\n',
    "bad.parquet": b"PAR1 and nothing else",
    "bad.arrow": b"ARROW1 and nothing else",
    "one.csv": b"a,y\n1,x\n2,x\n",
    "unlabelled.csv": b"a,y\n1,\n2,\n",
    "quantity.csv": b"a,y\n1,0.5\n2,1.5\n3,2.25\n",
    "rownumbers.csv": b"a,y\n" + b"".join(b"%d,%d\n" % (i % 3, i) for i in range(60)),
    "names.csv": b"name,y\n" + b"".join(b"person %d,%d\n" % (i, i % 2) for i in range(60)),
    "tulip.csv": HEADER + b"1.5,red,5,true,tulip\n",
    "violet.csv": HEADER + b"1.5,violet,5,true,rose\n",
    "many.csv": HEADER + b"1.5,red,5,true,rose\n" * 6,
    "huge.csv": HEADER + b"900,red,5,true,rose\n" * 2,
    "big.csv": HEADER + b"1,red,5,true,rose\nbig,red,5,true,rose\n",
    "maybe.csv": HEADER + b"1,red,5,maybe,rose\n",
    "color.csv": FLOWERS.replace(b"colour", b"color", 1),
    "leaves.csv": FLOWERS.replace(b"petals", b"leaves", 1),
    "few.csv": b"size,petals\n1,5\n",
    "rest.csv": FLOWERS.replace(b"size", b"length", 1).replace(b"red", b"blue"),
    "costs-bad.csv": b"truth,rose,daisy\nrose,0,much\ndaisy,1,0\n",
    "costs-few.csv": b"truth,rose,daisy\nrose,0,1\n",
    "costs-more.csv": b"truth,rose,daisy\nrose,0,1\ndaisy,1,0\ntulip,1,1\n",
    "costs-twice.csv": b"truth,rose,daisy\nrose,0,1\nrose,1,0\n",
    "costs-blank.csv": b"truth,rose,daisy\nrose,0,\ndaisy,1,0\n",
    "costs-endless.csv": b"truth,rose,daisy\nrose,0,inf\ndaisy,1,0\n",
    "costs-none.csv": b"truth\nrose\ndaisy\n",
    "costs-unsure.csv": b"truth,rose,rose\nrose,0,1\ndaisy,1,0\n",
    "notes.txt": b"not a model, and not a table of one\n",
    "hello.eml": b"Subject: hello\n\nhello\n",
    "other.eml": b"Subject: other\n\nsomething else\n",
    "texts.csv": b"text,y\n" + b"".join(
        b"%s %s number %d,%s\n" % (words[i % 5], words[i % 3], i, kind.encode())
        for kind, words in LETTERS.items() for i in range(12)
    ),
}  # fmt: skip


def mbox(words: list[bytes]) -> bytes:
    """Return a mailbox of twelve letters."""
    return b"".join(
        b"From me 12:36 2002\nSubject: %s\n\n%s %s %d\n\n" % (words[i % 5], words[i % 3], words[i % 4], i)
        for i in range(12)
    )


FITS = (
    "fit flowers.csv -t kind --model gda -o gda.suffice",
    "fit flowers.csv -t kind --model qda --shrink 0.5 -o qda.suffice",
    "fit flowers.csv -t kind --model naive-bayes -o nb.suffice",
    "fit leaves.csv -t kind --model naive-bayes -o leaves.suffice",
    "fit flowers.csv -t kind --model logistic --penalty 1 -o logistic.suffice",
    "fit numbers.csv -t y --model gda -o numbers.suffice",
    "fit numbers.csv -t y --model gda --without-statistics -o small.suffice",
    "fit texts.csv -t y --model text -o text.suffice",
    "mail fit ham.mbox spam.mbox -o filter.db",
)


@cache
def prepared() -> dict[str, bytes]:
    """Return the files that commands find, by name; models are fitted once."""
    with own_folder() as folder:
        made = {"flowers.csv": FLOWERS, "numbers.csv": NUMBERS, **TABLES}
        made |= {f"{kind}.mbox": mbox(words) for kind, words in LETTERS.items()}
        for name, content in made.items():
            Path(name).write_bytes(content)
        for line in FITS:
            said = run(line)
            if not said.startswith("exit 0"):
                raise RuntimeError(f"{line}: {said}")
        suffice.MultivariateNormal([0.0, 0.0], [[1.0, 0.2], [0.2, 1.0]]).save("law.suffice")
        whole = Path("gda.suffice").read_bytes()
        Path("cut.suffice").write_bytes(whole[: len(whole) // 2])
        Path("cut.db").write_bytes(Path("filter.db").read_bytes()[:5000])
        return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


Case = str | tuple[str, bytes]
BAD_TABLES = (
    "empty", "blank", "ragged", "wide", "quoted", "open", "stray", "twice", "unnamed", "alone",
    "infinite", "latin", "zeros", "picture", "sheet", "garbage", "packed", "one", "unlabelled",
    "quantity", "rownumbers", "names",
)  # fmt: skip
COMMANDS: dict[str, dict[str, Case]] = {
    "tables": {
        **{f"fit {name}": f"fit {name}.csv -t y --model gda" for name in BAD_TABLES},
        **{f"compare {name}": f"compare {name}.csv -t y" for name in BAD_TABLES},
        **{f"fit auto {name}": f"fit {name}.csv -t y" for name in ("ragged", "one", "quantity")},
        **{f"report {name}": f"report {name}.csv -t y" for name in ("empty", "one", "twice")},
        **{f"fit {name}": f"fit {name} -t y --model gda"
           for name in ("bad.json", "nested.json", "bad.parquet", "bad.arrow")},
    },
    "fit": {
        "no such file": "fit no.csv -t kind",
        "a name nearly right": "fit flower.csv -t kind",
        "a folder": "fit folder -t kind",
        "no file matches": "fit 'no-*.parquet' -t kind",
        "one of two is not there": "fit flowers.csv no.csv -t kind",
        "one of two has other columns": "fit flowers.csv numbers.csv -t kind",
        "a header and no rows": "fit header.csv -t kind --model gda",
        "a target nearly right": "fit flowers.csv -t kimd",
        "a target that is not there": "fit flowers.csv -t zzz",
        "a column to drop nearly right": "fit flowers.csv -t kind --drop colours",
        "the target is dropped": "fit flowers.csv -t kind --drop kind",
        "everything is dropped": "fit flowers.csv -t kind --drop size --drop colour --drop petals --drop scented",
        "a model as a table": "fit gda.suffice -t kind",
        "onto its input": "fit flowers.csv -t kind -o flowers.csv",
        "onto its input by force": "fit flowers.csv -t kind -o flowers.csv --force",
        "onto another table": "fit flowers.csv -t kind --model gda -o numbers.csv",
        "onto a text": "fit flowers.csv -t kind --model gda -o notes.txt",
        "onto a folder": "fit flowers.csv -t kind --model gda -o folder",
        "into no folder": "fit flowers.csv -t kind --model gda -o nowhere/m.suffice",
        "a shrink of two": "fit flowers.csv -t kind --model gda --shrink 2",
        "a pool of minus one": "fit flowers.csv -t kind --model qda --pool -1",
        "a pool for gda": "fit flowers.csv -t kind --model gda --pool 0.5",
        "a penalty for gda": "fit flowers.csv -t kind --model gda --penalty 1",
        "a penalty for auto": "fit flowers.csv -t kind --penalty 1",
        "a covariance that is not known": "fit flowers.csv -t kind --model gda --covariance full",
        "a family that is not known": "fit flowers.csv -t kind --model naive-bayes --families gauss",
        "a family that cannot be": "fit flowers.csv -t kind --model naive-bayes --families poisson",
        "a negative smoothing": "fit flowers.csv -t kind --model naive-bayes --smoothing -1",
        "a smoothing in words": "fit flowers.csv -t kind --model naive-bayes --smoothing lots",
        "a temperature of two": "fit flowers.csv -t kind --model naive-bayes --temperature 2",
        "a negative penalty": "fit flowers.csv -t kind --model logistic --penalty -1",
        "firth and a penalty": "fit flowers.csv -t kind --model logistic --correction firth --penalty 1",
        "priors of a class that is not there": "fit flowers.csv -t kind --model gda --priors rose=.5,tulip=.5",
        "priors of too few": "fit flowers.csv -t kind --model gda --priors rose=1",
        "priors that are too much": "fit flowers.csv -t kind --model gda --priors rose=.7,daisy=.7",
        "priors without shares": "fit flowers.csv -t kind --model gda --priors rose,daisy",
        "priors in words": "fit flowers.csv -t kind --model gda --priors rose=half,daisy=half",
        "priors for logistic": "fit flowers.csv -t kind --model logistic --priors rose=.5,daisy=.5",
        "text without text": "fit numbers.csv -t y --model text",
        "a checkpoint for logistic": "fit flowers.csv -t kind --model logistic --checkpoint c.part",
        "a checkpoint onto the table": "fit flowers.csv -t kind --model gda --checkpoint flowers.csv",
        "a checkpoint that is none": "fit flowers.csv -t kind --model gda --checkpoint notes.txt",
        "a delimiter of two": "fit flowers.csv -t kind --delimiter ab",
        "a delimiter that is not there": "fit flowers.csv -t kind --delimiter ';'",
        "a delimiter of no characters": "fit flowers.csv -t kind --delimiter ''",
        "no header": "fit flowers.csv -t kind --no-header",
        "nothing on standard input": "fit - -t kind",
        "garbage on standard input": ("fit - -t kind", bytes(range(256))),
        "standard input without rows": ("fit - -t y --model gda", b"a,y\n"),
        "standard input twice": ("fit - - -t y --model gda", NUMBERS),
        "an address without a table": "fit duckdb://no.db -t kind",
        "an address of no scheme": "fit mysql://host/base?table=t -t kind",
        "a row of notes": "fit flowers.csv -t kind --model gda -o new.suffice",
    },
    "predict": {
        "no such model": "predict no.suffice flowers.csv",
        "no such table": "predict gda.suffice no.csv",
        "a folder": "predict gda.suffice folder",
        "an empty table": "predict gda.suffice empty.csv",
        "a header alone": "predict gda.suffice header.csv",
        "a column nearly right": "predict gda.suffice color.csv",
        "columns are missing": "predict nb.suffice few.csv",
        "a word among numbers": "predict gda.suffice big.csv",
        "a word among truths": "predict gda.suffice maybe.csv",
        "a table as a model": "predict flowers.csv flowers.csv",
        "a model as a table": "predict gda.suffice gda.suffice",
        "half a model": "predict cut.suffice flowers.csv",
        "a text as a model": "predict notes.txt flowers.csv",
        "a law without classes": "predict law.suffice numbers.csv",
        "a mail filter as a model": "predict filter.db flowers.csv",
        "a column to keep": "predict gda.suffice flowers.csv --keep colours",
        "nothing on standard input": "predict gda.suffice -",
        "garbage on standard input": ("predict gda.suffice -", bytes(range(256))),
        "costs that are not there": "predict gda.suffice flowers.csv --cost no.csv",
        **{f"costs: {what}": f"predict gda.suffice flowers.csv --cost costs-{what}.csv"
           for what in ("bad", "few", "more", "twice", "blank", "endless", "none", "unsure")},
        "costs in an empty file": "predict gda.suffice flowers.csv --cost empty.csv",
        "costs and a limit": "predict gda.suffice flowers.csv --cost costs-more.csv --reject-below 0.5",
        "a limit of what": "predict gda.suffice flowers.csv --reject-by typicality",
        "typicality of a logistic regression": "predict logistic.suffice flowers.csv --reject-below 0.1 --reject-by typicality",
        "typicality of texts": "predict text.suffice texts.csv --reject-below 0.1 --reject-by typicality",
        "texts that are not there": "predict text.suffice numbers.csv",
        "too many cells": "predict numbers.suffice wide.csv",
        "a stray quotation mark": "predict numbers.suffice stray.csv",
        "names twice": "predict numbers.suffice twice.csv",
        "no header": "predict numbers.suffice numbers.csv --no-header",
        "a delimiter that is not there": "predict numbers.suffice numbers.csv --delimiter tab",
    },
    "explain and sample": {
        "explain: no such model": "explain no.suffice flowers.csv",
        "explain: no such table": "explain gda.suffice no.csv",
        "explain: a row beyond the last": "explain gda.suffice flowers.csv --row 99",
        "explain: a class nearly right": "explain gda.suffice flowers.csv --of rosa",
        "explain: against nobody": "explain gda.suffice flowers.csv --against tulip",
        "explain: against itself": "explain gda.suffice flowers.csv --of rose --against rose",
        "explain: a table as a model": "explain flowers.csv flowers.csv",
        "explain: a law without classes": "explain law.suffice numbers.csv",
        "explain: a word among numbers": "explain gda.suffice big.csv",
        "explain: nothing on standard input": "explain gda.suffice -",
        "sample: no such model": "sample no.suffice",
        "sample: a table as a model": "sample flowers.csv",
        "sample: a class nearly right": "sample gda.suffice --class rosa",
        "sample: a class that is not there": "sample nb.suffice --class tulip",
        "sample: a logistic regression": "sample logistic.suffice",
        "sample: a text model": "sample text.suffice --class eggs",
        "sample: half a model": "sample cut.suffice",
    },
    "outliers": {
        "no such model": "outliers no.suffice flowers.csv",
        "no such table": "outliers gda.suffice no.csv",
        "a column nearly right": "outliers gda.suffice color.csv",
        "a column to keep": "outliers gda.suffice flowers.csv --keep colours",
        "a logistic regression": "outliers logistic.suffice flowers.csv",
        "a text model": "outliers text.suffice texts.csv",
        "training without statistics": "outliers small.suffice numbers.csv --training",
        "training without labels": "outliers gda.suffice few.csv --training",
        "training with rows of others": "outliers gda.suffice tulip.csv --training",
        "a law without classes": "outliers law.suffice numbers.csv",
        "all and the most": "outliers gda.suffice flowers.csv --all --most 3",
        "a table as a model": "outliers flowers.csv flowers.csv",
    },
    "learn and forget": {
        **{f"{command}: {what}": line.format(command) for command in ("learn", "forget")
           for what, line in {
               "no such model": "{} no.suffice flowers.csv",
               "no such table": "{} gda.suffice no.csv",
               "an empty table": "{} gda.suffice empty.csv",
               "a header alone": "{} gda.suffice header.csv",
               "a target nearly right": "{} gda.suffice flowers.csv -t kimd",
               "no target": "{} gda.suffice few.csv",
               "a column nearly right": "{} gda.suffice color.csv",
               "a word among numbers": "{} gda.suffice big.csv",
               "a word among truths": "{} gda.suffice maybe.csv",
               "a table as a model": "{} flowers.csv flowers.csv",
               "a model as a table": "{} gda.suffice gda.suffice",
               "without statistics": "{} small.suffice numbers.csv",
               "a law without classes": "{} law.suffice numbers.csv",
               "half a model": "{} cut.suffice flowers.csv",
               "onto a table": "{} gda.suffice flowers.csv -o numbers.csv",
               "onto its table by force": "{} gda.suffice flowers.csv -o flowers.csv --force",
               "into no folder": "{} gda.suffice flowers.csv -o nowhere/m.suffice",
               "nothing on standard input": "{} gda.suffice -",
               "too many cells": "{} numbers.suffice wide.csv",
               "labels that are missing": "{} numbers.suffice unlabelled.csv",
               "a mail filter": "{} filter.db flowers.csv",
           }.items()},
        **{f"forget: {model}, {what}": f"forget {model}.suffice {what}.csv"
           for model in ("gda", "qda", "nb") for what in ("tulip", "violet", "many", "huge")},
        "forget: everything": "forget gda.suffice flowers.csv",
        "forget: a logistic regression": "forget logistic.suffice flowers.csv",
        "forget: texts never seen": "forget text.suffice notes.csv",
        "learn: a new class": "learn gda.suffice tulip.csv",
        "learn: a new category": "learn nb.suffice violet.csv",
    },
    "merge, inspect and diff": {
        "merge: no such model": "merge gda.suffice no.suffice -o out.suffice",
        "merge: a table": "merge gda.suffice flowers.csv -o out.suffice",
        "merge: other columns": "merge nb.suffice leaves.suffice -o out.suffice",
        "merge: other kinds": "merge gda.suffice nb.suffice -o out.suffice",
        "merge: other forms": "merge gda.suffice qda.suffice -o out.suffice",
        "merge: logistic regressions": "merge logistic.suffice logistic.suffice -o out.suffice",
        "merge: laws": "merge law.suffice law.suffice -o out.suffice",
        "merge: without statistics": "merge small.suffice numbers.suffice -o out.suffice",
        "merge: a model and a filter": "merge gda.suffice filter.db -o out.suffice",
        "merge: onto a table": "merge gda.suffice gda.suffice -o flowers.csv",
        "merge: onto a folder": "merge gda.suffice gda.suffice -o folder",
        "merge: half a model": "merge gda.suffice cut.suffice -o out.suffice",
        "merge: one model": "merge gda.suffice -o out.suffice",
        "inspect: no such model": "inspect no.suffice",
        "inspect: a name nearly right": "inspect gdaa.suffice",
        "inspect: a table": "inspect flowers.csv",
        "inspect: an empty file": "inspect empty.csv",
        "inspect: a folder": "inspect folder",
        "inspect: half a model": "inspect cut.suffice",
        "inspect: half a filter": "inspect cut.db",
        "inspect: garbage": "inspect garbage.csv",
        "diff: no such model": "diff gda.suffice no.suffice",
        "diff: a table": "diff gda.suffice flowers.csv",
        "diff: other kinds": "diff gda.suffice logistic.suffice",
        "diff: a law and a model": "diff law.suffice gda.suffice",
        "diff: a filter": "diff filter.db gda.suffice",
    },
    "compare and report": {
        "compare: no such file": "compare no.csv -t kind",
        "compare: a folder": "compare folder -t kind",
        "compare: a target nearly right": "compare flowers.csv -t kimd",
        "compare: a model that is not known": "compare flowers.csv -t kind --model lda",
        "compare: a model twice": "compare flowers.csv -t kind --model gda --model gda",
        "compare: an estimator that is none": "compare flowers.csv -t kind --with json.loads",
        "compare: an estimator that is not there": "compare flowers.csv -t kind --with sklearn.svm.Nothing",
        "compare: a library that is not there": "compare flowers.csv -t kind --with nothing.Model",
        "compare: a name without a dot": "compare flowers.csv -t kind --with forest",
        "compare: more folds than rows": "compare numbers.csv -t y --folds 20 --no-curves",
        "compare: a column to drop": "compare flowers.csv -t kind --drop colours",
        "compare: nothing on standard input": "compare - -t kind",
        "report: no such file": "report no.csv -t kind",
        "report: a target nearly right": "report flowers.csv -t kimd",
        "report: onto its input": "report flowers.csv -t kind -o flowers.csv",
        "report: onto its input by force": "report flowers.csv -t kind -o flowers.csv --force",
        "report: onto a text": "report flowers.csv -t kind -o notes.txt",
        "report: onto a folder": "report flowers.csv -t kind -o folder",
        "report: into no folder": "report flowers.csv -t kind -o nowhere/page.html",
        "report: nothing on standard input": "report - -t kind",
        "report: a column to drop": "report flowers.csv -t kind --drop colours",
        "demo: onto a text": "demo -o notes.txt",
        "demo: into no folder": "demo -o nowhere/page.html",
    },
    "sql": {
        "no such model": "sql no.suffice",
        "a table": "sql flowers.csv",
        "half a model": "sql cut.suffice",
        "a law without classes": "sql law.suffice",
        "a text model": "sql text.suffice",
        "a mail filter": "sql filter.db",
        "a name without letters": "sql gda.suffice --table ''",
        "a name of too many parts": "sql gda.suffice --table a.b.c.d.e",
        "scores of a logistic regression": "sql logistic.suffice --scores",
    },
    "mail": {
        "fit: no such file": "mail fit no.mbox spam.mbox -o new.db",
        "fit: an empty file": "mail fit empty.csv spam.mbox -o new.db",
        "fit: an empty folder": "mail fit folder spam.mbox -o new.db",
        "fit: a filter that is there": "mail fit ham.mbox spam.mbox -o filter.db",
        "fit: onto its input": "mail fit ham.mbox spam.mbox -o ham.mbox --force",
        "fit: onto a folder": "mail fit ham.mbox spam.mbox -o folder",
        "fit: into no folder": "mail fit ham.mbox spam.mbox -o nowhere/new.db",
        "fit: ham alone": "mail fit --ham ham.mbox -o new.db",
        "fit: one mailbox": "mail fit ham.mbox -o new.db",
        "fit: the same as both": "mail fit ham.mbox ham.mbox -o new.db",
        "classify: no such filter": "mail classify no.db hello.eml",
        "classify: no such message": "mail classify filter.db no.eml",
        "classify: a model": "mail classify gda.suffice hello.eml",
        "classify: a text": "mail classify notes.txt hello.eml",
        "classify: an empty file": "mail classify empty.csv hello.eml",
        "classify: half a filter": "mail classify cut.db hello.eml",
        "classify: an empty folder": "mail classify filter.db folder",
        "classify: limits the wrong way round": "mail classify filter.db hello.eml --unsure 0.9 0.1",
        "classify: two messages and one code": "mail classify filter.db hello.eml other.eml --exit-code",
        "classify: two messages and one header": "mail classify filter.db hello.eml other.eml --header",
        "classify: header and no filter": ("mail classify no.db - --header", TABLES["hello.eml"]),
        "classify: code and no filter": "mail classify no.db hello.eml --exit-code",
        "correct: no such filter": "mail correct no.db hello.eml --spam",
        "correct: no such message": "mail correct filter.db no.eml --spam",
        "correct: neither": "mail correct filter.db hello.eml",
        "correct: both": "mail correct filter.db hello.eml --spam --ham",
        "correct: never learned": "mail correct filter.db hello.eml --forget",
        "correct: learned before": "mail correct filter.db spam.mbox --spam",
        "correct: forget by a policy": "mail correct filter.db hello.eml --forget --policy errors",
        "correct: a model": "mail correct gda.suffice hello.eml --spam",
        "export: no such filter": "mail export no.db -o new.suffice",
        "export: a model": "mail export gda.suffice -o new.suffice",
        "export: onto itself": "mail export filter.db -o filter.db",
        "export: onto a table": "mail export filter.db -o flowers.csv",
        "export: half a filter": "mail export cut.db -o new.suffice",
    },
}  # fmt: skip
USAGE = {
    "no target": "fit flowers.csv",
    "no command of that name": "guess",
    "no option of that name": "fit flowers.csv -t kind --modle gda",
    "no model of that name": "fit flowers.csv -t kind --model lda",
    "no table": "predict gda.suffice",
    "a limit beyond one": "predict gda.suffice flowers.csv --reject-below 2",
    "a limit in words": "predict gda.suffice flowers.csv --reject-below much",
    "a rule that is not known": "predict gda.suffice flowers.csv --reject-by chance",
    "row zero": "explain gda.suffice flowers.csv --row 0",
    "a negative size": "sample gda.suffice -n -1",
    "typicality beyond one": "outliers gda.suffice flowers.csv --below 2",
    "no output": "merge gda.suffice gda.suffice",
    "one fold": "compare flowers.csv -t kind --folds 1",
    "a dialect that is not known": "sql gda.suffice --dialect oracle",
    "a negative wait": "learn gda.suffice flowers.csv --wait -1",
    "no output of a filter": "mail fit ham.mbox spam.mbox",
    "no command of mail": "mail guess",
    "a policy that is not known": "mail correct filter.db hello.eml --spam --policy some",
    "limits in words": "mail classify filter.db hello.eml --unsure a b",
}


def place() -> None:
    """Put the prepared files into the folder that we are in."""
    for name, content in prepared().items():
        Path(name).write_bytes(content)
    Path("folder").mkdir()


def commands(group: str) -> Cases:
    """Return the cases of a group of commands."""
    place()
    for name, given in COMMANDS[group].items():
        line, stdin = (given, b"") if isinstance(given, str) else given
        yield name, CommandCase(line, stdin)


def usage() -> Cases:
    """Return commands that Click refuses."""
    place()
    for name, line in USAGE.items():
        yield name, CommandCase(line, usage=True)


GROUPS: dict[str, Callable[[], Cases]] = {
    **{f"commands: {group}": partial(commands, group) for group in COMMANDS},
    "commands: wrong usage": usage,
}
