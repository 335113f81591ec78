"""The tables beside the grammar are those of the grammar."""

from compilemask.language.grammar_tables import GRAMMAR, TABLES, tables_text


def test_the_tables_are_up_to_date() -> None:
    made = tables_text(GRAMMAR.read_text("utf-8"))

    assert TABLES.read_text("utf-8") == made, "run: python -m compilemask.language.grammar_tables"
