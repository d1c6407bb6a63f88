"""Files that kill, hang or fill the process that reads them; loaders of one's own; folders that never end."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from benchmarks import makers
from extract.documents import (
    Document,
    Limits,
    Settings,
    UnreadableError,
    loaders,
    read_documents,
    register_loader,
    scan_documents,
)
from extract.errors import ConfigError, MissingExtraError

RTF = b"{\\rtf1 %s}"


@pytest.fixture(autouse=True)
def _own_loaders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaders, "_ENTRIES", dict(loaders._ENTRIES))


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a module of loaders, one for each way to end badly."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "bad_loaders.py").write_text(
        dedent("""
        import os, time
        from extract.documents import Document, UnreadableError

        def load(data, settings):
            word = data[7:-1].decode()
            if word == "dies":
                os.abort()
            if word == "exits":
                os._exit(3)
            if word == "hangs":
                time.sleep(60)
            if word == "eats":
                return Document("x" * (6 << 30))
            if word == "prints":
                print("noise on standard output", flush=True)
            if word == "raises":
                raise KeyError("field")
            if word == "refuses":
                raise UnreadableError("it says no")
            return Document(f"{word} by {os.getpid()}")
        """)
    )
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("bad_loaders", None)


def inbox(folder: Path, *words: str) -> Path:
    (folder / "in").mkdir()
    for number, word in enumerate(words):
        (folder / "in" / f"{number}.rtf").write_bytes(RTF % word.encode())
    return folder / "in"


def test_a_file_that_kills_its_reader_ends_nothing_else(tmp_path: Path, plugins: Path) -> None:
    import bad_loaders  # type: ignore[import-not-found]

    register_loader("application/rtf", bad_loaders.load)
    words = ("one", "dies", "two", "exits", "prints", "raises", "refuses", "three")
    frame = read_documents(inbox(tmp_path, *words) / "*", processes=1)
    said = dict(zip(words, frame["error"].to_list(), strict=True))
    assert "died of it (signal 6)" in said["dies"]
    assert "died of it (exit 3)" in said["exits"]
    assert "its parser failed: KeyError" in said["raises"]
    assert said["refuses"] == "it says no"
    assert [said[word] for word in ("one", "two", "three", "prints")] == [None] * 4
    assert f"by {os.getpid()}" not in "".join(text or "" for text in frame["text"])


def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path, plugins: Path) -> None:
    import bad_loaders

    register_loader("application/rtf", bad_loaders.load)
    frame = read_documents(inbox(tmp_path, "hangs", "fine") / "*", limits=Limits(seconds=3), processes=1)
    assert frame["error"][0] == "reading it took longer than 3 seconds"
    assert frame["text"][1].startswith("fine")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux")
def test_a_file_that_eats_memory_is_given_up(tmp_path: Path, plugins: Path) -> None:
    import bad_loaders

    register_loader("application/rtf", bad_loaders.load)
    limits = Limits(memory=512 << 20)
    assert read_documents(inbox(tmp_path, "eats") / "*", limits=limits)["error"][0] == (
        "it takes too much memory to read"
    )


def test_a_loader_that_only_lives_here_runs_here(tmp_path: Path) -> None:
    def load(data: bytes, settings: Settings) -> Document:
        if b"bad" in data:
            raise UnreadableError("not this one")
        if b"worse" in data:
            raise ZeroDivisionError
        return Document(f"read by {os.getpid()}")

    register_loader("application/rtf", load)
    frame = read_documents(inbox(tmp_path, "a", "bad", "worse") / "*")
    assert frame["text"][0] == f"read by {os.getpid()}"
    assert frame["error"].to_list() == [None, "not this one", "its parser failed: ZeroDivisionError: "]


def test_what_cannot_be_called_is_no_loader() -> None:
    with pytest.raises(ConfigError, match="give a function"):
        register_loader("application/rtf", "striprtf")  # type: ignore[arg-type]


def test_a_missing_package_is_one_line_that_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.pdf").write_bytes(makers.pdf([makers.text_lines("x")]))
    monkeypatch.setattr(loaders, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError) as caught:
        read_documents("a.pdf", root=tmp_path)
    assert "pip install 'extract-pipelines[documents]'" in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(MissingExtraError, match=r"extract-pipelines\[ocr\]"):
        read_documents("a.pdf", root=tmp_path, ocr=True)


def test_a_scan_reads_no_further_than_it_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        (tmp_path / f"{number:02}.txt").write_text(f"text {number}")
    opened: list[str] = []
    plain = Path.read_bytes

    def noted(path: Path) -> bytes:
        opened.append(path.name)
        return plain(path)

    monkeypatch.setattr(Path, "read_bytes", noted)
    rows = iter(scan_documents("*.txt", root=tmp_path, processes=1))
    assert [next(rows)["text"] for _ in range(5)] == [f"text {n}" for n in range(5)]
    rows.close()  # type: ignore[attr-defined]
    assert len(opened) < 12


def test_a_scan_can_be_read_again_and_gives_what_reading_gives(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.txt").write_text(name)
    scan = scan_documents("*.txt", root=tmp_path)
    first, second = list(scan), list(scan)
    assert first == second == read_documents("*.txt", root=tmp_path).to_dicts()


def test_at_least_one_process_reads(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="processes=0"):
        scan_documents("*.txt", root=tmp_path, processes=0)


def test_the_process_that_parses_has_no_key(
    tmp_path: Path, plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (plugins / "looking.py").write_text(
        "import os\nfrom extract.documents import Document\n"
        "def load(data, settings):\n"
        "    return Document(' '.join(sorted(n for n in os.environ if n.startswith('EXTRACT'))) or 'none')\n"
    )
    monkeypatch.setenv("EXTRACT_API_KEY", "secret")
    import looking  # type: ignore[import-not-found]

    register_loader("application/rtf", looking.load)
    assert read_documents(inbox(tmp_path, "a"))["text"].to_list() == ["none"]


def test_a_reader_that_is_left_ends_its_processes(tmp_path: Path, plugins: Path) -> None:
    import bad_loaders

    register_loader("application/rtf", bad_loaders.load)
    rows = iter(scan_documents(inbox(tmp_path, "one", "hangs", "two"), processes=1))
    assert next(rows)["text"].startswith("one")
    rows.close()  # type: ignore[attr-defined]  # hangs for a minute where the process is waited for


def test_a_module_in_the_current_folder_does_not_stand_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise RuntimeError('not the real one')")
    (tmp_path / "a.html").write_text("<html><p>seen")
    monkeypatch.chdir(tmp_path)
    assert read_documents("a.html")["text"].to_list() == ["seen"]
