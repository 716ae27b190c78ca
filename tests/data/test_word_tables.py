from pathlib import Path

import pytest

from headlight.corpora.word_tables import one_of, read_table


def read(path: Path, text: str) -> tuple[dict[str, str], ...]:
    path.write_text(text, encoding="utf-8")
    return read_table(path, dict)


def test_reads_rows_without_comments_empty_lines_and_empty_cells(tmp_path: Path) -> None:
    rows = read(
        tmp_path / "a.tsv", "\ufeff# Animals\nenglish\tplural\tfrench\n\nsheep\tsheep\tmouton\ndog\t\tchien\ncow\n"
    )
    sheep = {"english": "sheep", "plural": "sheep", "french": "mouton"}
    assert rows == (sheep, {"english": "dog", "french": "chien"}, {"english": "cow"})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("dog\tm\tx", "line 4 has 3 cells, but the table has 2 columns."),
        ("dog", "line 4: 'gender' is missing."),
        ("dog\tx", "line 4: 'x' is not one of m, f."),
    ],
)
def test_names_the_file_and_the_line_of_an_error(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "nouns.tsv"
    path.write_text(f"# Nouns\nenglish\tgender\ncat\tm\n{row}\n", encoding="utf-8")
    with pytest.raises(ValueError) as raised:
        read_table(path, lambda row: (row["english"], one_of(row["gender"], "m", "f")))
    assert str(raised.value) == f"{tmp_path.name}/nouns.tsv, {message}"
