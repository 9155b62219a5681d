"""Tables, mail and models for commands to find: most have something wrong with them."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

import suffice
from tests.reference.refusals import own_folder, run

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
    "alone.csv": b"y\nx\nz\n",
    "infinite.csv": b"a,y\n1,x\ninf,x\n2,z\n3,z\n",
    "latin.csv": b"a,y\n1,\xe9\x81\n2,z\n",
    "zeros.csv": b"a,y\n1,\0x\n2,z\n",
    "picture.csv": b"\x89PNG\r\n\x1a\n\0\0\0",
    "sheet.csv": b"PK\x03\x04rest",
    "garbage.csv": bytes(range(256)) * 4,
    "packed.csv": gzip.compress(b"")[:12],
    "nested.json": b'{"a": [1], "y": "x"}\n',
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
        b"From me 12:36 2002\nSubject: %s\n\n%s %s %d\n\n"
        % (words[i % 5], words[i % 3], words[i % 4], i)
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


def place() -> None:
    """Put the prepared files into the folder that we are in."""
    for name, content in prepared().items():
        Path(name).write_bytes(content)
    Path("folder").mkdir()
