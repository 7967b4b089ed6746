"""Written text in, speakable pieces out: the corpus, the promises, and what people complained of."""

from __future__ import annotations

import itertools

import pytest

from mirza.speech.text import Piece, SpeechText, Tie
from tests.speech.text_help import LANGUAGES, Case, chunked, corpus, cuts, pieces, spoken


@pytest.mark.parametrize(
    "case",
    [case for language in LANGUAGES for case in corpus(language)],
    ids=lambda case: f"{case.language}: {case.written[:40]}",
)
def test_what_is_written_is_said_as_people_say_it_at_every_chunking(case: Case):
    whole = pieces([case.written], case.language, quick_first=False)
    assert tuple(piece.spoken for piece in whole) == case.spoken
    for deltas in cuts(case.written):
        assert pieces(deltas, case.language, quick_first=False) == whole, deltas


def test_the_corpus_is_as_large_as_it_has_to_be():
    sizes = {language: len(corpus(language)) for language in LANGUAGES}
    assert min(sizes["en"], sizes["fr"]) >= 60
    assert min(sizes.values()) >= 25


# --- pieces ----------------------------------------------------------------------------------------------------------


def test_a_sentence_leaves_as_soon_as_the_next_one_begins():
    text = SpeechText()
    assert text.push("It is late. ") == []
    assert [piece.spoken for piece in text.push("G")] == ["It is late."]


def test_the_first_piece_may_be_a_clause_and_later_ones_are_sentences():
    said = "Well of course you can, and it is easy, too. Take one, then two more."
    assert [piece.spoken for piece in pieces([said])] == [
        "Well of course you can,",
        "and it is easy, too.",
        "Take one, then two more.",
    ]


@pytest.mark.parametrize(
    "text",
    ["It costs $3.5 for small and $5 for large.", "We saw 1, 2, 3 and 4.", "On the date of May 5, 2024 it rained"],
)
def test_the_first_clause_never_cuts_a_number(text: str):
    assert len(pieces([text])) == 1


def test_pieces_are_slices_of_the_answer_in_order():
    text = "## Title\n\n**Bold** start, then <think>no</think> more. See [this](https://a.b/c) now [1].\n- item\n```\nx\n```\nEnd 😀"
    end = 0
    for piece in pieces(chunked(text, 3)):
        assert piece.start >= end
        assert text[piece.start : piece.end] == piece.written
        end = piece.end


def test_markup_that_closes_belongs_to_the_piece_and_markup_that_opens_to_the_next():
    assert [piece.written for piece in pieces(["**One.** **Two.**"])] == ["**One.**", "**Two.**"]
    assert [piece.written for piece in pieces(["**好的。**再见。"], "zh")] == ["**好的。**", "再见。"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_text_without_punctuation_still_comes_in_pieces(language: str):
    text = "word and more " * 200 if language == "en" else "没有标点的文字" * 100
    found = pieces(chunked(text, 5), language)
    assert max(len(piece.written) for piece in found) <= 221
    assert "".join(piece.written for piece in found).replace(" ", "") == text.replace(" ", "")


def test_a_sentence_of_two_thousand_characters_is_cut_at_commas():
    text = ", ".join(["and then the old king went to the other side of the river"] * 34) + "."
    found = pieces([text])
    assert len(found) > 8
    assert all(piece.written.endswith((",", ".")) for piece in found)


def test_hindi_is_cut_at_the_danda_and_keeps_its_vowel_signs():
    assert spoken("यह एक वाक्य है। यह दूसरा है।", "hi") == ["यह एक वाक्य है।", "यह दूसरा है।"]


@pytest.mark.parametrize(
    ("language", "written", "said"),
    [
        ("it", "Ho **3 gatti**: il 5% costa 3,50 € alle 14:30.", "Ho 3 gatti: il 5% costa 3,50 € alle 14:30."),
        (
            "it",
            "Il Sig. Rossi → 10 m² 😀, vedi https://www.example.com/a?b=1.",
            "Il Sig. Rossi 10 m², vedi example.com.",
        ),
        ("pt", "- R$ 20,00 (n.º 7)", "R$ 20,00 (n.º 7)"),
        ("hi", "यह 5% है 👍🏽", "यह 5% है"),
        ("ru", "Цена — 1 234,50 ₽; № 7 ✓", "Цена — 1 234,50 ₽; № 7"),
        ("ko", "가격은 5,000원(10%)입니다!", "가격은 5,000원(10%)입니다!"),
    ],
)
def test_in_a_language_without_forms_of_its_own_the_voice_reads_the_numbers(language: str, written: str, said: str):
    assert spoken(written, language) == [said]


# --- what is heard of what is written --------------------------------------------------------------------------------


def test_half_of_the_sound_is_half_of_the_written_words():
    piece = pieces(["It costs $1,234.56 in all."])[0]
    assert piece.written_upto(0) == ""
    assert piece.written_upto(0.01) == "It"
    assert piece.written_upto(0.5) == "It costs $1,234.56"
    assert piece.written_upto(0.999) == piece.written_upto(1) == piece.written


def test_the_written_words_heard_grow_with_the_sound_and_end_at_words():
    piece = pieces(["The **bold** word costs 3 € and [a link](http://x.y) follows it."], quick_first=False)[0]
    heard = [piece.written_upto(step / 200) for step in range(201)]
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(heard))
    assert heard[-1] == piece.written
    assert {text[len(text.rstrip()) :] for text in heard} == {""}


def test_a_formula_of_which_two_things_are_said_is_heard_as_one():
    piece = pieces(["Prof. 110.\\(\\frac{1}{2}\\)."], "es", quick_first=False)[0]
    heard = [piece.written_upto(step / 50) for step in range(51)]
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(heard))
    assert heard[-1] == piece.written


def test_a_piece_that_was_made_by_hand_knows_its_words_too():
    piece = Piece("one two three", "one two three", 0, 13)
    assert piece.written_upto(0.1) == "one"
    assert piece.written_upto(0.5) == "one two"
    assert Piece("5 km", "five kilometers", 0, 4, (Tie(1, 4), Tie(4, 15))).written_upto(0.2) == "5"


# --- thoughts and tools ----------------------------------------------------------------------------------------------

THOUGHTS = [
    "<think>{}</think>",
    "<thinking>{}</thinking>",
    "<reasoning>{}</reasoning>",
    "<thought>{}</thought>",
    "<reflection>{}</reflection>",
    "<scratchpad>{}</scratchpad>",
    "[THINK]{}[/THINK]",
    "◁think▷{}◁/think▷",
    "<seed:think>{}</seed:think>",
    "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
    "<|START_THINKING|>{}<|END_THINKING|>",
    "<|begin_of_thought|>{}<|end_of_thought|>",
    "<|channel>thought\n{}<channel|>",
    "<THINK>{}</THINK>",
]


@pytest.mark.parametrize("family", THOUGHTS)
def test_thoughts_are_never_spoken_in_any_family_of_tags_and_at_every_cut(family: str):
    text = family.format("Secret plan. It has two sentences!\n\nAnd lines.") + "Hello."
    assert spoken(text) == ["Hello."]
    for deltas in cuts(text, halves_under=200):
        assert [piece.spoken for piece in pieces(deltas)] == ["Hello."], deltas


@pytest.mark.parametrize("family", THOUGHTS)
def test_a_thought_that_never_closes_is_never_spoken(family: str):
    opened = family.split("{}", maxsplit=1)[0]
    assert spoken(f"{opened}Secret plan. It never ends.") == []


def test_a_thought_that_the_prompt_opened_is_not_spoken():
    assert [piece.spoken for piece in pieces(["First. I rea", "son.</thi", "nk>Hi"], in_thought=True)] == ["Hi"]
    assert [piece.spoken for piece in pieces(["reason</think>Hi"])] == ["Hi"]


@pytest.mark.parametrize(
    "text",
    [
        "What does `<think>` mean? It opens a thought.",
        'What does "<think>" mean? It opens a thought.',
        "The <think> tag is special. It opens a thought.",
    ],
)
def test_an_answer_about_the_tag_is_spoken_whole(text: str):
    assert spoken(text)[-1] == "It opens a thought."
    assert "think" in spoken(text)[0]


TOOLS = [
    '<tool_call>{"name": "f", "arguments": {"a": "}"}}</tool_call>',
    '{"name": "get_weather", "arguments": {"city": "Paris", "n": [1, 2]}}',
    '[{"name": "f", "parameters": {}}]',
    "<function=f><parameter=x>5</parameter></function>",
    '[TOOL_CALLS][{"name": "f", "arguments": {}}][/TOOL_CALLS]',
    "<｜tool▁calls▁begin｜>f<｜tool▁calls▁end｜>",
    '<function_calls><invoke name="f">x</invoke></function_calls>',
]  # fmt: skip


@pytest.mark.parametrize("call", TOOLS)
def test_a_tool_call_is_never_spoken(call: str):
    for deltas in cuts(f"{call}\nDone."):
        assert [piece.spoken for piece in pieces(deltas)] == ["Done."]


@pytest.mark.parametrize(
    "text",
    ["", "😀", "```", "...", "…", "***", "---", "# ", "| |", "[1]", "<br>", "\n\n", "\x00\x1b\u200b", "👩‍👩‍👧 🇫🇷"],
)
def test_nothing_left_to_say_is_no_piece(text: str):
    assert pieces(chunked(text, 1)) == []


# --- markup ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("AT&T said 2 &lt; 3.", "AT and T said two is less than three."),
        ("arr is [1, 2, 3] now", "arr is one, two, three now"),
        ("a `b*c` d", "a b times c d"),
        ("2**3 and 4 * 5", "two to the power of three and four times five"),
        ("un*bel*ievable **bold**word", "unbelievable boldword"),
        ("__init__ and snake_case_name", "init and snake case name"),
        ("Price*: 5 (*not* incl.)", "Price: five, not including."),
        ("1\\. escaped \\*stars\\*", None),
        ("H<sub>2</sub>O and x<sup>2</sup>", None),
        ("Dear <your name>, hello", "Dear your name, hello"),
        ("[![badge](https://img.io/a.png)](https://b.io) text", "badge text"),
        ("https://en.wikipedia.org/wiki/Foo_(bar)?x=1&y=2 is it", "en dot wikipedia dot org is it"),
        ("Use <b>bold</b><br/>here", None),
    ],
)
def test_markup_is_told_from_what_only_looks_like_it(written: str, said: str | None):
    found = " ".join(spoken(written))
    assert not set(found) & set("*_`<>[]{}|\\#=&/@0123456789")
    if said is not None:
        assert found == said


def test_code_is_announced_once_in_its_language():
    text = "Voici :\n```python\nfor i in range(3):\n    print('x. Y!')\n```\nVoilà."
    for deltas in cuts(text):
        assert [piece.spoken for piece in pieces(deltas, "fr")] == [
            "Voici:",
            "Il y a du code ici, que je ne lis pas.",
            "Voilà.",
        ]


def test_in_a_hurry_the_next_piece_may_be_a_clause_as_the_first_may():
    text = SpeechText("en")
    pieces = text.push("There was a king. He had a big house, he had two old dogs, ")
    text.hurry()
    pieces += text.push("and a son. ")
    pieces += text.push("They lived near the sea, far away from everything. ")
    pieces += text.flush()
    assert [piece.spoken for piece in pieces] == [
        "There was a king.",
        "He had a big house,",
        "he had two old dogs, and a son.",
        "They lived near the sea, far away from everything.",
    ]


@pytest.mark.parametrize(
    ("language", "written", "first"),
    [
        ("en", "It takes twenty minutes to bake a loaf of bread.", "It takes twenty minutes"),
        ("en", "Bees make honey by drying nectar.", "Bees make honey"),
        ("en", "It is used for that.", "It is used for that."),  # too short to be parted
        ("en", "Hello, my name is Anna.", "Hello,"),
        ("en", "The best of it comes as if by magic.", "The best of it comes"),
        ("de", "Bienen machen Honig aus dem Nektar der Blüten.", "Bienen machen Honig"),
        ("fr", "La capitale de la France est Paris et elle est belle.", "La capitale de la France est Paris"),
        ("es", "Las abejas hacen la miel con el néctar.", "Las abejas hacen la miel"),
    ],
)
def test_in_a_hurry_a_piece_may_end_before_what_opens_a_phrase(language: str, written: str, first: str):
    text = SpeechText(language)
    text.hurry()
    pieces = text.push(written) + text.flush()
    assert pieces[0].spoken == first
    assert " ".join(piece.spoken for piece in pieces) == written
    unhurried = SpeechText(language)
    assert [piece.spoken for piece in unhurried.push(written) + unhurried.flush()] == [written]
