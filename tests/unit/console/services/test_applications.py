"""What applications show is read, and nothing else is taken over."""

from moldau.console.services.applications import drawing, queries


def test_lines_of_metrics_become_queries() -> None:
    text = "\n".join(
        [
            "# HELP moldau_streams_batch_ms Milliseconds",
            'moldau_streams_batch_ms{query="a\\"b\\\\c\\nd"} 250',
            'moldau_streams_lag{query="q"} 7',
            'moldau_streams_lag{query="q"',
            'moldau_streams_input_rows_per_s{query="q"} NaN',
            'moldau_streams_batch_ms{query="q"} <b>',
            'other_lag{query="q"} 1',
        ]
    )
    assert queries(text) == [
        {"name": 'a"b\\c\nd', "batch_ms": 250.0},
        {"name": "q", "lag": 7.0, "input_rows_per_s": None, "batch_ms": None},
    ]


def test_there_are_so_many_queries() -> None:
    many = (f'moldau_streams_lag{{query="{number}"}} 1' for number in range(2000))
    assert len(queries("\n".join(many))) == 1000


def test_a_drawing_has_only_what_is_drawn() -> None:
    box = {"x": 1, "y": -5, "kind": "<b>", "lines": ["a", 1, "c", "d"], "queries": ["q"], "href": 1}
    arrows = [[0, 0], [0, 1], ["a", 0], [0], None, [True, 0]]
    assert drawing({"box": [9, 9], "boxes": [box], "arrows": arrows}) == {
        "box": [9, 9],
        "boxes": [{"x": 1, "y": 0, "kind": "step", "lines": ["a", "1", "c"], "queries": ["q"]}],
        "arrows": [[0, 0]],
    }


def test_what_is_no_drawing_is_none() -> None:
    empty: list[object] = [None, [], {}, {"boxes": [{}]}, {"box": [1, 1], "boxes": []}]
    empty.append({"box": [1, 10**9], "boxes": [{}]})
    assert all(drawing(each) is None for each in empty)
