"""What is read from a message, one thing at a time."""

import pytest

from suffice.errors import BadSetting
from suffice.mail.charsets import codec_of, decoded, plain
from suffice.mail.html_text import html_text, unescaped
from suffice.mail.words import mail_terms, message_text, message_texts, read_message
from tests.text.hostile_mail import TEMPLATE


def html_marks(page: str) -> list[str]:
    return html_text(page)[1]


def test_a_message_is_read_as_its_parts_say():
    message = read_message(TEMPLATE)
    assert message.subject == "Hello world again"
    assert dict(message.headers)["From"] == "Böb <bob@example.com>"
    assert " ".join(message.text.split()) == (
        "Café for $5!!! See http://www.shop.example.co.uk/now and more. 家信 A letter & more"
    )
    assert set(message.marks) == {
        "charset:utf-8", "charset:gb2312", "html:html", "html:body", "html:bgcolor:red", "html:p",
        "html:b", "html:a", "html:img", "url:example.net", "url:www.shop.example.co.uk",
        "url:example.co.uk", "type:application/pdf", "file:pdf",
    }  # fmt: skip
    assert not message.truncated


def test_terms_have_the_prefix_of_their_field_and_stay_whole():
    terms = mail_terms(TEMPLATE)
    assert {
        "subj_hello", "from_böb", "from_bob", "from_example_com", "rcvd_mail_example_com",
        "rcvd_192_0_2_7", "to_example_org", "type_multipart_mixed", "url_example_co_uk",
        "html_bgcolor_red", "type_application_pdf", "café", "!!!", "$",
    } <= set(terms)  # fmt: skip
    assert terms[:2] == ["rtrn_bob", "rtrn_example_com"]


@pytest.mark.parametrize(
    "name",
    ["X-Spam-Status", "X-Suffice", "X-Bogosity", "X-Spambayes-Classification", "Status", "X-UID"],
)
def test_verdicts_are_not_learned(name):
    assert mail_terms(f"{name}: Yes\nTo: b\n\n".encode()) == ["to_b"]
    assert read_message(f"{name}: Yes\n\n".encode()).headers == ((name, "Yes"),)


def test_headers_are_read_as_far_as_asked_for():
    raw = b"Received: from a.b\nSubject: hi\nX-Mailer: c\n\n"
    assert mail_terms(raw) == ["rcvd_from", "rcvd_a_b", "subj_hi", "x-mailer_c"]
    assert mail_terms(raw, "some") == ["subj_hi", "x-mailer_c"]
    assert mail_terms(raw, "none") == ["subj_hi"]
    with pytest.raises(BadSetting, match="few"):
        message_text(raw, "few")


def test_a_field_that_is_empty_is_told_from_one_that_is_missing():
    assert mail_terms(b"Subject:\n\n") == ["subj_"]
    assert mail_terms(b"\n") == []


def test_a_long_name_does_not_stand_before_every_word():
    assert mail_terms(b"x" * 40 + b": a b\n\n") == ["head_a", "head_b"]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"From bob Thu Aug 22 12:36:23 2002\nTo: a\n\nb", "b"),
        (b">From bob\nTo: a\n\nb", "b"),
        (b"From bob Thu Aug 22 12:36:23 2002\n\nb", "b"),
        (b"From here on\n\nb", "From here on b"),
    ],
)
def test_a_line_before_the_header_is_left_out_and_no_other(raw, text):
    assert read_message(raw).text.split() == text.split()


def test_a_folded_field_is_one_field():
    message = read_message(b"Subject: one\n two\n\tthree\nTo: four\n\nbody")
    assert message.headers == (("Subject", "one two three"), ("To", "four"))


def test_lines_of_a_header_that_are_no_fields_are_text():
    message = read_message(b"To: b\nthis was lost\nSubject: c\n\nbody")
    assert message.subject == "c"
    assert message.text.split() == ["this", "was", "lost", "body"]
    assert message.marks == ("defect:header",)


@pytest.mark.parametrize("raw", [b"", b"\n", b"Just text.", b"Dear Bob,\n\nhow are you?"])
def test_bytes_that_are_no_message_are_text(raw):
    message = read_message(raw)
    assert message.text.split() == raw.decode().split()
    assert message.headers == ()


def test_line_ends_of_all_kinds_mean_the_same():
    raw = TEMPLATE.replace(b"=\n", b"").replace(b"\t", b" ")
    for end in (b"\r\n", b"\r"):
        assert read_message(raw.replace(b"\n", end)) == read_message(raw)


@pytest.mark.parametrize(
    ("encoded", "text"),
    [
        ("=?utf-8?Q?caf=C3=A9_au_lait?=", "café au lait"),
        ("=?UTF-8?b?Y2Fmw6k=?= now", "café now"),
        ("a =?utf-8?q?=C3?=\t=?utf-8?q?=A9?= b", "a é b"),
        ("=?iso-8859-1?q?a?= =?utf-8?q?=C3=A9?=", "aé"),
        ("=?utf-8*en?q?what??=", "what?"),
        ("=?nonsense?q?caf=E9?=", "café"),
        ("=?utf-8?B?Y2Fmw6?=", "cafÃ"),
        ("=?utf-8?q?never ends", "=?utf-8?q?never ends"),
        ("=?utf-8?x?abc?=", "=?utf-8?x?abc?="),
        ("1 =? 2", "1 =? 2"),
        ("=?utf-8?q?two=0Alines?=", "two lines"),
    ],
)
def test_encoded_words_are_read_where_they_can_be(encoded, text):
    assert plain(encoded) == text


@pytest.mark.parametrize(
    ("charset", "codec"),
    [
        ("utf-8", "utf_8"), ("US-ASCII", "utf_8"), ("iso-8859-1", "cp1252"), ("latin1", "cp1252"),
        ("windows-1252", "cp1252"), ("ISO_8859-15", "iso8859_15"), ("x-sjis", "cp932"),
        ("gb2312_charset", "gb18030"), ("chinesebig5", "big5hkscs"), ("ks_c_5601-1987", "cp949"),
        ("koi8-r", "koi8_r"), ("default", ""), ("default_charset", ""), ("unknown-8bit", ""),
        ("", ""), ("a\x00b", ""), ("hex", ""), ("rot13", ""), ("bz2", ""), ("idna", ""),
        ("undefined", ""), ("raw-unicode-escape", ""), ("mbcs", ""),
    ],
)  # fmt: skip
def test_charsets_are_what_their_writers_mean(charset, codec):
    assert codec_of(charset) == codec
    if codec:
        b"".decode(codec)


def test_bytes_that_are_not_in_their_charset_fall_back():
    assert decoded("é“".encode(), "us-ascii") == ("é“", True)
    assert decoded(b"\x93caf\xe9\x94", "utf-8") == ("“café”", False)
    assert decoded(b"\x93caf\xe9\x94", "nonsense") == ("“café”", False)
    assert decoded("家信".encode("gb2312") * 10 + b"\xbc", "gb2312") == ("家信" * 10 + "�", False)
    assert decoded(b"\x81\xff" * 9, "big5") == ("\x81ÿ" * 9, False)


def test_an_unfit_charset_leaves_a_mark():
    raw = b"Content-Type: text/plain; charset=nonsense\n\ncaf\xe9"
    assert read_message(raw).marks == ("charset:nonsense", "defect:charset")
    assert read_message(raw).text == "café\n"


def test_a_page_may_say_its_charset_itself():
    page = '<html><meta charset="gb2312">家信'.encode("gb2312")
    assert read_message(b"Content-Type: text/html\n\n" + page).text.split() == ["家信"]


def test_html_is_read_as_it_is_seen():
    assert html_text("vi<!-- x -->a<b>g</b><xyz>ra")[0] == "viagra"
    assert html_text("<td>a</td><td>b</td>")[0].split() == ["a", "b"]
    assert html_text("a<script>b < c</SCRIPT>d<style>e</style>f")[0] == "adf"
    assert html_text("1 < 2 <3 > 4")[0] == "1 < 2 <3 > 4"
    assert html_text("a <b unclosed <i>c")[0] == "a c"
    assert html_text("a<!-- open b")[0] == "a open b"
    assert html_text("a<!-->b")[0] == "ab"
    assert html_text("a<script>b")[0] == "ab"


def test_tags_tell_hosts_and_looks():
    assert html_marks("<A HREF='HTTP://Www.Example.COM/a'>") == [
        "html:a", "url:www.example.com", "url:example.com",
    ]  # fmt: skip
    assert html_marks('<img src="http://cdn.example.net/a.png" width=1>') == [
        "html:img", "html:width:1", "img:cdn.example.net", "img:example.net",
    ]  # fmt: skip
    assert html_marks("<xyz><qrs>") == ["html:odd", "html:odd"]
    assert read_message(b"Content-Type: text/html\n\n<font color='#FF0000' size=+3>").marks == (
        "html:font", "html:color:ff0000", "html:size:+3",
    )  # fmt: skip


def test_references_to_characters_that_are_none_are_replaced():
    assert unescaped("&#xD800;&#0;&#1114112;&#9999999;") == "����"
    assert unescaped("&eacute;&#233;&#xE9;&eacute &amp;lt; &#; &;") == "éééé &lt; &#; &;"


def test_a_page_without_a_type_is_still_a_page():
    assert read_message(b"To: b\n\n<html><p>a").text == "  a\n"


def test_attachments_are_counted_and_not_read():
    raw = (
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b\n"
        b"Content-Type: image/png; name=a.PNG\n\nsecret\n--b--\nepilogue"
    )
    message = read_message(raw)
    assert message.text == "text\n"
    assert message.marks == ("type:image/png", "file:png")


@pytest.mark.parametrize(
    ("raw", "text", "defect"),
    [
        (b"--b\n\none\n--b\n\ntwo", "one two", "defect:unclosed"),
        (b"--bb\n\none", "--bb one", "defect:boundary"),
        (b"--b\none two\n--b--", "one two", "defect:header"),
        (b"--b\n\none\n--bb\ntwo\n--b--", "one --bb two", None),
        (b"--b \t\n\none\n--b--  \nthree", "one", None),
    ],
)
def test_damaged_containers_are_read_as_far_as_they_go(raw, text, defect):
    message = read_message(b"Content-Type: multipart/mixed; boundary=b\n\n" + raw)
    assert message.text.split() == text.split()
    assert message.marks == ((defect,) if defect else ())


@pytest.mark.parametrize(
    ("encoding", "body", "text"),
    [
        ("base64", b"aGVsbG8=", "hello"),
        ("BASE64", b"aGVs!!!\nbG8", "hello"),
        ("base64 (really)", b"aGVsbG8=", "hello"),
        ("quoted-printable", b"a=3Db=\nc =ZZ", "a=bc =ZZ"),
        ("7bit", b"a=3Db", "a=3Db"),
        ("x-unknown", b"a=3Db", "a=3Db"),
    ],
)
def test_transfer_encodings_are_undone(encoding, body, text):
    raw = f"Content-Transfer-Encoding: {encoding}\n\n".encode() + body
    assert read_message(raw).text.split() == text.split()


def test_many_messages_give_the_texts_of_each():
    raws = [TEMPLATE, b"", b"a: b\n\nc"]
    assert list(message_texts(raws)) == [message_text(raw) for raw in raws]
