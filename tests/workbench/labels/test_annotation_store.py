"""The store: pages, labels, history, undo, several writers, and files that are no database."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotated import DROP, HEADING, HTML, KEEP, SAID, TEXTS, say, say_all, store_with_page
from mainmatter.errors import InputError
from mainmatter.records import Page
from mainmatter.workbench.labels import AnnotationError, Label, Stale, Store
from mainmatter.workbench.labels.database import VERSION
from mainmatter.workbench.labels.importing import FoundPage, add_found
from mainmatter.workbench.labels.records import CannotStore

labels_ = st.one_of(st.none(), st.builds(Label, st.booleans(), st.sampled_from(["heading", "paragraph", "comment"])))
steps = st.one_of(st.dictionaries(st.integers(0, 10), labels_, max_size=4), st.sampled_from(["undo", "redo", "reopen"]))


def test_a_page_is_added_once_and_never_changed(tmp_path: Path) -> None:
    page = Page(b"<p>K\xe4se</p>", "http://a.example/", "a.html", "latin-1")
    with Store(tmp_path) as store:
        assert store.add_page(page, "first") == 1
        assert store.add_page(page, "second", name="again") == 1
        assert store.add_page(Page(page.html, "http://b.example/"), "third") == 2
        assert store.add_page(Page("text", format="text", id="dump"), "fourth") == 3
        assert store.page(1) == page
        assert store.page(3) == Page("text", format="text", id="dump")
        assert [(page.name, page.source, page.status) for page in store.pages()] == [
            ("a.html", "first", "new"),
            ("http://b.example/", "third", "new"),
            ("dump", "fourth", "new"),
        ]
        assert store.find_page(page) == 1
        assert store.find_page(Page("other")) is None
    assert (tmp_path / "annotations.db").is_file()


def test_a_dump_whose_lines_are_blocks_stays_one(tmp_path: Path) -> None:
    page = Page("One line\nof a WET archive\nand another\nand the last", format="text", lines_are_blocks=True, id="wet")
    with Store(tmp_path) as store:
        store.add_page(page, "a.wet")
        assert store.page(1) == page
        assert (store.pages()[0].blocks, len(store.blocks(1))) == (4, 4)


def test_a_database_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        say_all(store, "Ada")
        page, said = store.page(1), store.labels(1, "Ada").by_ref
    connection = sqlite3.connect(tmp_path / "annotations.db")
    connection.execute("ALTER TABLE pages DROP COLUMN lines_are_blocks")
    connection.execute("ALTER TABLE labels DROP COLUMN suggested_by")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    with Store(tmp_path) as store:
        assert (store.page(1), store.labels(1, "Ada").by_ref) == (page, said)
        store.add_page(Page("a\nb", format="text", lines_are_blocks=True), "b.wet")
        assert store.page(2).lines_are_blocks


def test_a_database_from_before_suggestions_were_told_apart_opens(tmp_path: Path) -> None:
    made_then = sqlite3.connect(tmp_path / "annotations.db")  # by the code of that time
    made_then.executescript(Path(__file__).with_name("annotations-2.sql").read_text("utf-8"))
    made_then.close()
    with Store(tmp_path) as store:
        assert [label.kept for label in store.labels(1, "Ada").by_ref.values()] == [label.kept for label in SAID]
        assert not any(
            label.suggested_by for labels in store.all_labels(1).values() for label in labels.by_ref.values()
        )
        assert store.labels(1, "Ada").done
        store.redo(1, "Ada")
        assert not list(store.labels(1, "Ada").by_ref.values())[3].kept
        say(store, "Ada", {3: Label(kept=True, suggested_by="models/auto")})
        assert [each.after for each in store.history(1)[-1].changes] == [Label(kept=True, suggested_by="models/auto")]


def test_what_suggested_a_label_outlives_undo_and_redo(tmp_path: Path) -> None:
    accepted = Label(kept=True, suggested_by="models/auto")
    with store_with_page(tmp_path) as store:
        say(store, "Ada", {3: accepted, 4: accepted})
        say(store, "Ada", {3: KEEP})  # it says the same, and now it is Ada's own word
        assert list(store.labels(1, "Ada").by_ref.values()) == [KEEP, accepted]
        store.undo(1, "Ada")
        assert list(store.labels(1, "Ada").by_ref.values()) == [accepted, accepted]
        store.undo(1, "Ada")
        assert store.labels(1, "Ada").by_ref == {}
        store.redo(1, "Ada")
    with Store(tmp_path) as store:
        assert list(store.labels(1, "Ada").by_ref.values()) == [accepted, accepted]


def test_blocks_have_references_that_are_their_own_and_stay(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        blocks = store.blocks(1)
        assert [block.block.text for block in blocks] == list(TEXTS)
        assert len({block.ref for block in blocks}) == len(TEXTS)
    with Store(tmp_path) as store:
        assert [block.ref for block in store.blocks(1)] == [block.ref for block in blocks]


def test_labels_survive_a_restart_and_a_copy_of_the_file(tmp_path: Path) -> None:
    with store_with_page(tmp_path / "here") as store:
        revision = say_all(store, "Ada")
        store.set_done(1, "Ada", True)
        said = store.labels(1, "Ada").by_ref
    assert list(said.values()) == list(SAID)
    shutil.copy(tmp_path / "here" / "annotations.db", tmp_path / "copy.db")
    with Store(tmp_path / "copy.db") as store:
        found = store.labels(1, "Ada")
        assert found.by_ref == said
        assert (found.lost, found.done, found.can_undo, found.can_redo) == ((), True, True, False)
        assert found.revision > revision
        assert store.annotators() == ["Ada"]


def test_history_tells_who_changed_what(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        say(store, "Ada", {3: KEEP})
        say(store, "Ada", {3: DROP, 2: HEADING})
        say(store, "merged", {3: KEEP})
        store.undo(1, "Ada")
        events = store.history(1)
        ref = store.blocks(1)[3].ref
    assert [(event.annotator, event.by, event.action, event.of) for event in events] == [
        ("Ada", "Ada", "set", None),
        ("Ada", "Ada", "set", None),
        ("merged", "Mia", "set", None),
        ("Ada", "Ada", "undo", 2),
    ]
    [change] = [change for change in events[1].changes if change.ref == ref]
    assert (change.before, change.after) == (KEEP, DROP)
    [change] = [change for change in events[3].changes if change.ref == ref]
    assert (change.before, change.after) == (DROP, KEEP)
    assert all(event.time.endswith("Z") for event in events)


def test_the_database_itself_refuses_to_change_history(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        say(store, "Ada", {3: KEEP})
    connection = sqlite3.connect(tmp_path / "annotations.db")
    for statement in ("UPDATE events SET by = 'Eve'", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            connection.execute(statement)
    connection.close()


def test_nothing_new_is_no_change(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        first = say(store, "Ada", {3: KEEP})
        assert say(store, "Ada", {3: KEEP, 4: None}) == first
        assert store.set_done(1, "Ada", False) == first
        assert store.undo(1, "Bea") is None
        assert store.redo(1, "Ada") is None
        assert len(store.history(1)) == 1


def test_another_window_is_told(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store, Store(tmp_path) as window:
        seen = store.labels(1, "Ada").revision
        say(window, "Ada", {3: KEEP})
        say(window, "Bea", {3: KEEP})  # another annotator's work does not matter
        ref = store.blocks(1)[3].ref
        with pytest.raises(Stale, match="Ada has changed page 1 meanwhile"):
            store.set_labels(1, "Ada", {ref: DROP}, based_on=seen)
        assert store.set_labels(1, "Ada", {ref: DROP}, based_on=store.labels(1, "Ada").revision) > seen


def test_what_cannot_be_done_is_told(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        ref = store.blocks(1)[0].ref
        for call in (store.document, store.page, store.blocks, store.history, store.conflicts, store.summary):
            with pytest.raises(AnnotationError, match="has no page 7"):
                call(7)
        with pytest.raises(AnnotationError, match="has no page 7"):
            store.undo(7, "Ada")
        with pytest.raises(AnnotationError, match="no block 'nonsense'"):
            store.set_labels(1, "Ada", {"nonsense": KEEP})
        for name in ("", "  ", "best", "x" * 101, "a\0b"):
            with pytest.raises(AnnotationError, match="name"):
                store.set_labels(1, name, {ref: KEEP})
        with pytest.raises(AnnotationError, match="name who changes them"):
            store.set_labels(1, "merged", {ref: KEEP})
        with pytest.raises(InputError, match="one of heading"):
            Label(kept=True, kind="title")  # type: ignore[arg-type]
        assert store.history(1) == []
    with pytest.raises(AnnotationError, match=r"annotations\.db: "):
        store.pages()  # it is closed


@settings(max_examples=25, deadline=None)
@given(st.lists(steps, max_size=12))
def test_any_changes_undos_and_redos_do_what_a_list_of_states_does(todo: list[object]) -> None:
    states: list[dict[int, Label]] = [{}]
    place = 0
    with tempfile.TemporaryDirectory() as folder:
        store = store_with_page(Path(folder))
        for step in todo:
            match step:
                case dict():
                    wanted = {i: label for i, label in (states[place] | step).items() if label is not None}
                    say(store, "Ada", step)
                    if wanted != states[place]:
                        states[place + 1 :] = [wanted]
                        place += 1
                case "undo":
                    assert (store.undo(1, "Ada") is None) == (place == 0)
                    place = max(0, place - 1)
                case "redo":
                    assert (store.redo(1, "Ada") is None) == (place + 1 == len(states))
                    place = min(place + 1, len(states) - 1)
                case _:
                    store.close()
                    store = Store(folder)
            found = store.labels(1, "Ada")
            number = {block.ref: i for i, block in enumerate(store.blocks(1))}
            assert {number[ref]: label for ref, label in found.by_ref.items()} == states[place]
            assert (found.can_undo, found.can_redo) == (place > 0, place + 1 < len(states))
        store.close()


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("", []),
        (b"\xff\xfe\x00", None),
        ("<p>水獭回来了</p><p>🦦 <b>е</b>ще 𝔵</p>", ["水獭回来了", "🦦 еще 𝔵"]),
        ("<p>half \ud800 a character</p>", None),
    ],
)
def test_odd_pages_can_be_annotated(tmp_path: Path, html: str | bytes, texts: list[str] | None) -> None:
    with store_with_page(tmp_path, html, url=None) as store:
        blocks = store.blocks(1)
        assert texts is None or [block.block.text for block in blocks] == texts
        say(store, "Zoë 🦦", dict.fromkeys(range(len(blocks)), KEEP))
        store.set_done(1, "Zoë 🦦", True)
    with Store(tmp_path) as store:
        assert store.page(1).html == html
        assert len(store.labels(1, "Zoë 🦦").by_ref) == len(blocks)
        assert store.summary(1).done == ("Zoë 🦦",)


def test_plain_text_dumps_can_be_annotated(tmp_path: Path) -> None:
    dump = "Home | News\n\nThe otters were seen at the old mill again, three of them.\n\n* Fish are back.\n"
    with Store(tmp_path) as store:
        page_id = store.add_page(Page(dump, format="text"), "dump.txt")
        assert [block.block.text for block in store.blocks(page_id)][1].startswith("The otters")
        say(store, "Ada", {1: KEEP})
        assert list(store.labels(page_id, "Ada").by_ref.values()) == [KEEP]


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    wrong = tmp_path / "notes.db"
    wrong.write_text("Otters, otters, otters.\n" * 100)
    with pytest.raises(AnnotationError, match=r"notes\.db: is not a database of annotations"):
        Store(wrong)
    assert wrong.read_text().startswith("Otters")


def test_a_database_of_something_else_is_told_and_left_alone(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "shop.db")
    other.execute("CREATE TABLE orders (id)")
    other.close()
    before = (tmp_path / "shop.db").read_bytes()
    with pytest.raises(AnnotationError, match="not one of annotations"):
        Store(tmp_path / "shop.db")
    assert (tmp_path / "shop.db").read_bytes() == before


def test_a_newer_database_is_told(tmp_path: Path) -> None:
    store_with_page(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "annotations.db")
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with pytest.raises(AnnotationError, match="newer mainmatter"):
        Store(tmp_path)


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    with store_with_page(tmp_path, "<p>Otters</p>" * 20_000):
        pass
    file = tmp_path / "annotations.db"
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    file.write_bytes(bytes(data))

    def use() -> None:
        with Store(tmp_path) as store:
            store.document(1)

    with pytest.raises(AnnotationError, match=r"annotations\.db: is damaged"):
        use()


def test_no_database_is_told_where_none_is_to_be_made(tmp_path: Path) -> None:
    with pytest.raises(AnnotationError, match="no such database"):
        Store(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").write_text("x")
    with pytest.raises(AnnotationError, match="cannot be made"):
        Store(tmp_path / "file" / "db")


def test_summaries_say_where_pages_stand(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        store.add_page(Page(HTML, "http://mill.example/2"), "a test", note="look", page_type="article", lang="en")
        assert store.pages()[1].note == "look"
        assert (store.pages()[1].page_type, store.pages()[1].lang) == ("article", "en")
        say_all(store, "Ada")
        assert (store.summary(1).status, store.summary(1).labelled) == ("labelled", {"Ada": 11})
        say_all(store, "Bea", b3=DROP, b10=KEEP)
        assert (store.summary(1).status, store.summary(1).conflicts) == ("conflict", 2)
        say(store, "merged", {3: KEEP})
        assert (store.summary(1).status, store.summary(1).conflicts) == ("conflict", 1)
        say(store, "merged", {10: DROP})
        assert store.summary(1).status == "labelled"
        assert store.accept_agreed(1, by="Mia") == 9
        assert store.summary(1).status == "merged"
        assert [page.status for page in store.pages(check=True)] == ["merged", "new"]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE pages SET is_text = 1, html = x'FFFE41'",
        "UPDATE labels SET ref = 'none' || ref",
        "UPDATE labels SET kind = 'odd'",
        "UPDATE segmentations SET digest = 'other', blocks = '{}'",
        "UPDATE segmentations SET digest = 'other', blocks = '[[1], 2]'",
        "UPDATE segmentations SET digest = 'other', blocks = 'no JSON'",
        "UPDATE segmentations SET digest = 'other', blocks = CAST(x'FFFE41' AS TEXT)",
        "UPDATE events SET action = 'undo'",
        "UPDATE events SET action = 'invented'",
        *(
            f"UPDATE events SET changes = '{changes}'"
            for changes in (
                "{",
                "7",
                "[7]",
                "[[1, 2]]",
                '[["a", "b", null, null]]',
                "[[1, [], null, null]]",
                '[[1, "b", [], null]]',
                '[[1, "b", [true, "odd"], null]]',
                '[[1, "b", [true, "heading", 5], null]]',
                "[" * 100_000,
            )
        ),
    ],
    ids=lambda damage: damage[:70],
)
def test_content_that_was_not_written_here_is_told_as_damage(tmp_path: Path, damage: str) -> None:
    with store_with_page(tmp_path) as store:
        say_all(store, "Ada")
    connection = sqlite3.connect(tmp_path / "annotations.db")
    connection.execute("DROP TRIGGER events_stay")
    connection.execute(damage)
    connection.commit()
    connection.close()
    told: list[str] = []
    with Store(tmp_path) as store:
        for use in (
            lambda: store.page(1),
            lambda: store.summary(1),
            lambda: store.labels(1, "Ada"),
            lambda: store.history(1),
            lambda: store.undo(1, "Ada"),
            lambda: store.accept_agreed(1, by="Mia"),
        ):
            try:
                use()
            except AnnotationError as error:
                told.append(str(error))
    assert told
    for words in told:
        assert words.startswith(f"{tmp_path / 'annotations.db'}: ")
        assert len(words) < 600


def test_a_full_disk_is_told_as_one(tmp_path: Path) -> None:
    with store_with_page(tmp_path) as store:
        before = store.pages()
        with store._database.reading() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
        store._database._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(CannotStore, match=r"annotations\.db: cannot be written: database or disk is full"):
            store.add_page(Page("<p>Otters</p>" * 20_000), "a test")
        with pytest.raises(CannotStore):
            list(add_found(store, [FoundPage("a", "a", Page("<p>Otters</p>" * 20_000))] * 2))
        assert store.pages() == before
