"""Models on the Hugging Face hub: their addresses, downloads with bounds, and uploads.

`huggingface_hub` is imported where it is used: the import takes half a second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from transformer.access import require_private
from transformer.checkpoint.weights import MAX_WEIGHTS_BYTES, Refused
from transformer.quoting import short

Progress = Callable[[float, str], None]  # share done, from 0 to 1, and what is being done
Sizes = Mapping[str, int]  # bytes by a file's name
PREFIX = "hub:"
CONFIG = "config.json"

_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_NAME = re.compile(f"{_PART}/{_PART}|{_PART}")
_REVISION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,94}[A-Za-z0-9])?")
_UNSHARDED_WEIGHTS = {"model.safetensors", "pytorch_model.bin", "model.bin"}  # weights in shards may lack some
_TIMEOUT_SECONDS = 6  # for the hub to answer
_SLACK_BYTES = 2**24  # beyond a file's declared size, since progress is counted in chunks of up to 10 million bytes
_MAX_RESTARTS = 3  # of an interrupted transfer; the hub's client sets no limit itself


class Address(NamedTuple):
    """A model on the hub, such as Helsinki-NLP/opus-mt-en-fr; `revision` is a branch, a tag or a commit."""

    name: str
    revision: str | None = None

    def __str__(self) -> str:
        return self.name if self.revision is None else f"{self.name}@{self.revision}"


def is_address(text: str | Path) -> bool:
    """Return whether a model's name says that it is on the hub: whether it begins with "hub:"."""
    return str(text).startswith(PREFIX)


def parse_address(text: str | Path) -> Address | None:
    """Return the address that OWNER/NAME, NAME or OWNER/NAME@REVISION means, with or without "hub:", else None."""
    name, at, revision = str(text).replace("\\", "/").removeprefix(PREFIX).partition("@")
    valid = _NAME.fullmatch(name) is not None and ".." not in name and "--" not in name
    if at:
        valid = valid and _REVISION.fullmatch(revision) is not None and ".." not in revision
    return Address(name, revision if at else None) if valid else None


def fetch(
    address: Address,
    choose: Callable[[Sizes], Sizes],
    check: Callable[[Path], None] | None = None,
    progress: Progress | None = None,
    endpoint: str | None = None,
) -> Path:
    """Return the folder of the hub's cache with the files of a model that `choose` selects.

    They are fetched in the order of `choose`: config.json first, for which `check` may raise Refused before more is
    fetched, and the weights last. What was fetched before is not fetched again, and serves without a network.
    `progress` may raise to stop. Raises Refused for a model that does not exist, may not be read or is larger than
    declared, and for a hub that cannot be reached; ValueError in a confined process.
    """
    require_private()
    import huggingface_hub
    from huggingface_hub import errors

    api = huggingface_hub.HfApi(endpoint=endpoint)
    try:
        with _refusals(address):
            info = api.model_info(
                address.name, revision=address.revision, timeout=_TIMEOUT_SECONDS, files_metadata=True
            )
            sizes = choose({file.rfilename: file.size or 0 for file in info.siblings or []})
            return _fetched(address, sizes, check, progress, endpoint)
    except (errors.HfHubHTTPError, errors.OfflineModeIsEnabled, OSError) as error:
        return _cached(address, choose, check, error)
    except Exception as error:
        if type(error).__module__.startswith("httpx"):  # the hub's client does not wrap these errors
            return _cached(address, choose, check, error)
        raise


@contextmanager
def _refusals(address: Address) -> Iterator[None]:
    """Raise Refused for what the hub refuses; other errors pass."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError:
        raise Refused(
            f"{address.name} is on the hub, but its owner asks for consent to its terms first.",
            remedy="Accept them on its page, then run `hf auth login` on this machine.",
        ) from None
    except errors.RepositoryNotFoundError:
        raise Refused(
            f"There is no model {address.name} on the hub, or it is private.",
            remedy="Check its name; for a private one, run `hf auth login` on this machine.",
        ) from None
    except errors.RevisionNotFoundError:
        raise Refused(f"{address.name} has no revision {address.revision}.", remedy="Check it on its page.") from None
    except errors.HfHubHTTPError as error:
        if error.response is None or error.response.status_code not in (401, 403):
            raise
        raise Refused(
            f"The hub does not accept the token of this machine for {address.name}.",
            (("The hub says", _first_line(error)),),
            "Run `hf auth login` again, with a token that may do this.",
        ) from None


def _fetched(
    address: Address,
    sizes: Sizes,
    check: Callable[[Path], None] | None,
    progress: Progress | None,
    endpoint: str | None,
) -> Path:
    import huggingface_hub

    total, before = sum(sizes.values()), 0
    folder, revision = Path(), address.revision  # of the first file, and of the others the commit that it came from
    for file, size in sizes.items():
        path = Path(
            huggingface_hub.hf_hub_download(
                address.name,
                file,
                revision=revision,
                endpoint=endpoint,
                etag_timeout=_TIMEOUT_SECONDS,
                tqdm_class=_progress_bar(progress, file, size, before, total),
            )
        )
        if path.stat().st_size != size:
            raise Refused(f"{file} of {address} has {path.stat().st_size:,} bytes; the hub lists it with {size:,}.")
        if file == CONFIG and check is not None:
            check(path)
        before += size
        if progress is not None:
            progress(min(1.0, before / max(total, 1)), f"Fetched {file}")
        folder, revision = path.parent, path.parent.name
    return folder


def _progress_bar(progress: Progress | None, file: str, size: int, before: int, total: int) -> type[Any]:
    """Return a class of progress bars that bounds the transfer, and calls `progress`, if given, instead of drawing."""
    from huggingface_hub.utils import tqdm

    class Bar(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True if progress else options.get("disable")})
            self.done, self.restarts = options.get("initial") or 0, 0
            self._require_declared(options.get("total") or 0)

        def update(self, n: float | None = 1) -> bool | None:
            self.done += n or 0
            self.restarts += (n or 0) < 0
            self._require_declared(self.done)
            if self.restarts > _MAX_RESTARTS:
                raise OSError(f"the transfer of {file} broke off {self.restarts} times")
            if progress is not None:
                progress(min(1.0, (before + self.done) / max(total, 1)), f"Fetching {file}")
            return super().update(n)

        def _require_declared(self, count: float) -> None:
            if count > size + _SLACK_BYTES:
                raise Refused(f"The hub lists {file} with {size:,} bytes and sends {int(count):,} or more.")

    return Bar


def _cached(
    address: Address, choose: Callable[[Sizes], Sizes], check: Callable[[Path], None] | None, error: Exception
) -> Path:
    """Return the folder of an earlier fetch. Raises Refused where it is not a complete model."""
    import huggingface_hub

    config = huggingface_hub.try_to_load_from_cache(address.name, CONFIG, revision=address.revision)
    if isinstance(config, str):
        folder = Path(config).parent
        try:
            needed = choose({path.name: path.stat().st_size for path in folder.iterdir() if path.is_file()})
        except Refused:
            needed = {}
        if _UNSHARDED_WEIGHTS & needed.keys():  # fetched last
            if check is not None:
                check(Path(config))
            return folder
    raise Refused(
        f"The Hugging Face hub cannot be reached or broke off, and {address} was not fetched before.",
        (("The hub's client says", _first_line(error)),),
        "Check the network, or copy the model's folder here and give its path.",
    )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return short(lines[0]) if lines else type(error).__name__


def require_small(address: Address, sizes: Sizes, max_files: int) -> None:
    """Raise Refused for more bytes or files than a model that opens here may have."""
    total = sum(sizes.values())
    if total > MAX_WEIGHTS_BYTES or len(sizes) > max_files:
        raise Refused(
            f"{address} has {total:,} bytes in {len(sizes)} files; at most {MAX_WEIGHTS_BYTES:,} bytes open here."
        )


class Repository(NamedTuple):
    """A model repository that is on the hub: its files, whether it is private, and its newest commit."""

    files: frozenset[str]
    private: bool
    commit: str | None


def look_up(address: Address) -> Repository | None:
    """Return what the hub has under a name, or None where it has nothing that this machine's token may see.

    Raises Refused without a token, for a refused one, and for a hub that cannot be reached.
    """
    require_private()
    import huggingface_hub
    from huggingface_hub import errors

    if huggingface_hub.get_token() is None:
        raise Refused(
            "The hub has to know who uploads.",
            remedy="Run `hf auth login`, or set HF_TOKEN to a token with write access.",
        )
    with _uploading(address):
        try:
            info = huggingface_hub.HfApi().model_info(address.name, timeout=_TIMEOUT_SECONDS)
        except errors.GatedRepoError:
            raise
        except errors.RepositoryNotFoundError:
            return None
    return Repository(frozenset(file.rfilename for file in info.siblings or []), bool(info.private), info.sha)


def upload(
    address: Address, files: Mapping[str, Path | bytes], existing: Repository | None, private: bool, message: str
) -> str:
    """Upload files by the names that they get, in one commit, and return the address of the model's page.

    A repository is created where `existing` is None. Otherwise the commit is refused if somebody else has committed
    since `look_up`. Raises Refused where the hub refuses it or cannot be reached.
    """
    require_private()
    import huggingface_hub

    api = huggingface_hub.HfApi()
    operations = [
        huggingface_hub.CommitOperationAdd(name, str(content) if isinstance(content, Path) else content)
        for name, content in files.items()
    ]
    with _uploading(address):
        if existing is None:
            api.create_repo(address.name, private=private)
        parent = None if existing is None else existing.commit
        commit = api.create_commit(address.name, operations, commit_message=message, parent_commit=parent)
    return str(commit.repo_url)


@contextmanager
def _uploading(address: Address) -> Iterator[None]:
    """Raise Refused for any error of the hub or of the way to it."""
    try:
        with _refusals(address):
            yield
    except Refused:
        raise
    except Exception as error:
        if not isinstance(error, OSError) and not type(error).__module__.startswith("httpx"):
            raise
        raise Refused(
            f"Nothing was uploaded to {address}: the hub refused it or cannot be reached.",
            (("The hub's client says", _first_line(error)),),
            "Check the network and the name, then try again.",
        ) from None
