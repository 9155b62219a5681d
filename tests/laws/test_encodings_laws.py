"""The same table in UTF-8, Windows-1252 and UTF-16 is the same table, from files and from pipes."""

from __future__ import annotations

import io
import os
import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import train
from suffice.errors import BadFile, BadRows, BadSetting, GuessedEncoding, SufficeError
from suffice.tables.encodings import Utf8Bytes
from suffice.tables.table_file import open_table

if TYPE_CHECKING:
    from pathlib import Path

WESTERN = [bytes([b]).decode("cp1252") for b in range(0xA0, 0x100)]
MANY = 70_000
"""Rows that are more than one block, and more than one chunk."""
cells = st.text(st.sampled_from([*"abc xyz", *WESTERN]), max_size=6)


class Dribble(io.BytesIO):
    """Bytes that come a few at a time."""

    def __init__(self, held: bytes, step: int) -> None:
        super().__init__(held)
        self.step = step

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read(self.step if size is None or size < 0 else min(size, self.step))


def spaced(words: list[str]) -> bytes:
    """Return a table in Windows-1252 whose letters beyond ASCII stand by themselves."""
    return "".join(f"{'.'.join(word)},y\n" for word in words).encode("cp1252")


@given(st.lists(cells, min_size=1), st.sampled_from(["utf-16", "utf-8-sig", "utf-16-be", "cp1252"]),
       st.integers(1, 9))  # fmt: skip
def test_pieces_of_any_size_say_the_same(words: list[str], encoding: str, step: int) -> None:
    text = "\n".join(words)
    found = Utf8Bytes(Dribble(text.encode(encoding), step), "a.csv", encoding).read()
    assert found.decode() == text


@given(st.lists(cells, min_size=1), st.integers(1, 9))
def test_what_is_utf8_stays_as_it_is(words: list[str], step: int) -> None:
    content = "\n".join(words).encode()
    assert Utf8Bytes(Dribble(content, step), "a.csv").read() == content


@given(st.lists(cells, min_size=1), st.integers(1, 9))
def test_western_text_is_found_out_in_pieces_of_any_size(words: list[str], step: int) -> None:
    content = spaced(["é", *words])
    assert Utf8Bytes(Dribble(content, step), "a").read() == content.decode("cp1252").encode()


@given(st.binary(max_size=60), st.integers(1, 9))
def test_a_pipe_and_a_file_are_taken_for_the_same(content: bytes, step: int) -> None:
    from suffice.tables.encodings import WesternText

    def survey() -> WesternText:
        seen = WesternText()
        seen.see(content)
        return seen

    def outcome(file: Utf8Bytes) -> str | None:
        try:
            return file.read().decode()
        except (UnicodeDecodeError, SufficeError):
            return None

    file = outcome(Utf8Bytes(io.BytesIO(content), "a", survey=survey))
    assert outcome(Utf8Bytes(Dribble(content, step), "a")) == file


ROWS = "größe,ort,y\n" + "".join(
    f"{i % 7},{('Köln', 'Zürich', 'Rom')[i % 3]},{'ab'[i % 2]}\n" for i in range(60)
)


def test_a_model_is_the_same_in_every_encoding(tmp_path: Path) -> None:
    saved = set()
    for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-32"):
        path = tmp_path / f"{encoding}.csv"
        path.write_bytes(ROWS.encode(encoding))
        found = train(path, target="y", model="naive-bayes")
        found.save(tmp_path / "a.suffice")
        saved.add((tmp_path / "a.suffice").read_bytes())
        if encoding == "cp1252":
            (note,) = found.notes
            assert "is read as Windows-1252" in note
            assert "'größe' in line 1; encoding= names another" in note
            assert not train(path, target="y", model="naive-bayes", encoding="latin-1").notes
        else:
            assert not found.notes
    assert len(saved) == 1


def test_files_in_several_encodings_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(ROWS.encode("cp1252"))
    (tmp_path / "b.csv").write_bytes(ROWS.encode())
    found = train([tmp_path / "a.csv", tmp_path / "b.csv"], target="y", model="naive-bayes")
    assert [("a.csv" in note, "Windows-1252" in note) for note in found.notes] == [(True, True)]


def test_the_last_row_of_a_large_file_decides(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * MANY + b"1,caf\xe9\n")
    with pytest.warns(GuessedEncoding, match=f"'café' in line {MANY + 2:,}"):
        cells = [cell for chunk in open_table(path).chunks(["b"], ["category"])
                 for cell in chunk.column(0)[-1:]]  # fmt: skip
    assert cells[-1] == "café"


def test_a_pipe_is_read_as_it_comes(tmp_path: Path) -> None:
    pipe, said = tmp_path / "pipe", []
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"a,b\n1,caf\xe9\n",))
    writer.start()
    table = open_table(pipe, once=True, header=True, on_guess=said.append)
    assert next(table.chunks(None, ["number", "category"])).column(1).tolist() == ["café"]
    writer.join()
    assert len(said) == 1


BAD = {
    "another alphabet": (
        "город,y\nМосква,a\n".encode("cp1251"),
        "line 1: the byte 0xe3 is not utf",
    ),
    "damaged UTF-8": (b"a,y\n\xe9x,1\n" + "é,é,".encode() + b"\n", "line 2: the byte 0xe9 is not"),
    "both": ("a,y\né,1\n".encode() + b"\xe9,1\n", "line 3: the byte 0xe9 is not utf-8"),
    "undefined": (b"a,y\n\xe9,1\nx\x81,2\n", "line 2: the byte 0xe9 is not utf-8"),
    "a control": (b"a,y\n\xe9,1\nx\x02,2\n", "line 2: the byte 0xe9 is not utf-8"),
    "half a unit": ("a,y\n1,é\n".encode("utf-16")[:-1], "line 2: the byte 0x0a is not utf-16"),
    "half a pair": (b"\xff\xfea\0,\0y\0\n\x001\0,\0\x3d\xd8\n\0", "line 2: the byte 0x3d is not"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_text_is_refused_by_its_line(name: str, tmp_path: Path) -> None:
    content, problem = BAD[name]
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises((BadRows, BadFile), match=problem) as refused:
        list(open_table(path, delimiter=",", header=True).chunks())
    assert "--encoding" in refused.value.hint


@pytest.mark.parametrize("name", ["latin-99", "rot13", "hex", "idna", "utf-7", "", "a\0b"])
def test_an_encoding_that_is_not_known_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,y\n1,x\n2,z\n")
    with pytest.raises(BadSetting, match="is not a known text encoding"):
        train(path, target="y", encoding=name)
