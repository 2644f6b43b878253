"""Parsing requests into fields: JSON, forms with files, and bare pages, all with the same names, plus query parameters.

A request is bounded before it is validated. Pydantic makes an error of several kilobytes for each wrong value: a
request of 10 MB could take gigabytes, and block the server for seconds.
"""

from __future__ import annotations

import gc
from email.message import Message
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WrapValidator, model_validator
from pydantic_core import from_json
from starlette.exceptions import HTTPException

from mainmatter.limits import MEGABYTE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.datastructures import Headers
    from starlette.requests import Request

Model = TypeVar("Model", bound=BaseModel)

FORM = "multipart/form-data"
JSON = "application/json"
MOST_VALUES = 50_000  # of a JSON request: to label 10,000 blocks takes 40,000, and more would stall the server
MOST_OPTIONS = 100  # no method has half as many parameters
LONGEST_OPTION = 100  # characters of its name
_MOST_FIELDS = 50
_LONGEST_FIELD = 1_000_000  # bytes, of a form's fields that are no files
_PIECE = 1000  # members that are validated together


class File(NamedTuple):
    """A file that was uploaded."""

    name: str
    data: bytes


class StrictModel(BaseModel):
    """A model that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _has_few_fields(cls, value: Any) -> Any:  # whatever was sent
        """Refuse many unknown fields with one error, instead of one each."""
        if isinstance(value, dict) and len(value) > len(cls.model_fields):
            unknown = next(name for name in value if name not in cls.model_fields)
            raise ValueError(f"there is no field {unknown}")
        return value


def at_most(count: int) -> BeforeValidator:
    """For a field: refuse too many members before they are validated. Pydantic reads all of a dict first."""

    def check_count(value: Any) -> Any:  # whatever was sent
        if isinstance(value, dict | list) and len(value) > count:
            raise ValueError(f"there are {len(value):,}; send at most {count:,}")
        return value

    return BeforeValidator(check_count)


def _validate_in_pieces(value: Any, validate: Callable[[Any], Any]) -> Any:  # whatever was sent
    if not isinstance(value, dict):
        return validate(value)
    members = iter(value.items())
    found: dict[str, Any] = {}
    while piece := dict(islice(members, _PIECE)):
        found |= validate(piece)
    return found


IN_PIECES = WrapValidator(_validate_in_pieces)
"""For a field that is a large dict: validate a thousand members at a time, and stop at the first error."""

Options = Annotated[
    dict[Annotated[str, Field(max_length=LONGEST_OPTION)], bool | int | float | str | None], at_most(MOST_OPTIONS)
]


def media_type_of(headers: Headers) -> str:
    """The media type of a request; "" if it has none."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def content_type(request: Request) -> tuple[str, str | None]:
    """The media type of a request and its charset."""
    message = Message()
    message["Content-Type"] = request.headers.get("content-type", "")
    try:
        return media_type_of(request.headers), message.get_content_charset()
    except Exception:  # what clients put into headers may be anything
        return media_type_of(request.headers), None


def is_json(media_type: str) -> bool:
    """Whether a request of that type is read as JSON."""
    return media_type == JSON or (media_type.startswith("application/") and media_type.endswith("+json"))


def count_values(text: bytes, most: int = MOST_VALUES) -> int:
    """How many values a JSON text holds, counted without parsing it; some number above `most` if it holds more.

    Each value but the first of an object or list has a comma before it, and each object or list a bracket.
    """
    if (count := _count_separators(text)) <= most:
        return count
    plain = text.replace(rb"\\", b"").replace(rb"\"", b"")
    count, first = 0, 0  # the first part of each piece is a text's if a text reaches into it
    for start in range(0, len(plain), MEGABYTE):
        parts = plain[start : start + MEGABYTE].split(b'"')
        count += _count_separators(b"".join(parts[first::2]))
        if count > most:
            break
        first ^= (len(parts) - 1) % 2
    return count


def _count_separators(text: bytes) -> int:
    return sum(text.count(separator) for separator in (b",", b"[", b"{"))


def parse_json(text: str | bytes, what: str) -> Any:  # whatever was sent
    """Parse a JSON text.

    Args:
        text: the text.
        what: what to call it in the error.

    Raises:
        HTTPException: it is not valid JSON.
    """
    # What JSON holds has no cycles, to look for which takes three times as long as to parse it.
    collects = gc.isenabled()
    gc.disable()
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise HTTPException(
            400, f"{what} is not valid JSON: {error}; send it as UTF-8, without NaN and Infinity"
        ) from error
    finally:
        if collects:
            gc.enable()


async def read_json(request: Request) -> dict[str, Any]:
    """The fields of a JSON object.

    Raises:
        RequestValidationError: it is not an object.
    """
    fields = parse_json(await request.body(), "the request")
    if not isinstance(fields, dict):
        raise invalid("the request is JSON, but not an object")
    return fields


async def read_form(request: Request) -> tuple[File, list[tuple[str, str]]]:
    """The file of a form, and its other fields.

    Raises:
        RequestValidationError: it cannot be read, or does not contain exactly one file.
    """
    file: File | None = None
    fields: list[tuple[str, str]] = []
    try:
        async with request.form(max_files=1, max_fields=_MOST_FIELDS, max_part_size=_LONGEST_FIELD) as form:
            for name, value in form.multi_items():
                if isinstance(value, str):
                    fields.append((name, value))
                elif name == "file":
                    file = File(value.filename or "file", await value.read())
    except HTTPException as error:
        raise invalid(f"the form cannot be read: {error.detail}") from error
    if file is None:
        raise invalid("file: send a file here")
    return file, fields


def texts_of(pairs: Iterable[tuple[str, Any]], *, switches: Iterable[str]) -> dict[str, Any]:
    """Fields that were sent as text: a switch without a value is on, and `options` and `methods` are JSON.

    Raises:
        HTTPException: one of these is not valid JSON.
    """
    fields: dict[str, Any] = {}
    for name, value in pairs:
        fields[name] = True if name in switches and value == "" else value
    for name in ("options", "methods"):
        if isinstance(fields.get(name), str):
            fields[name] = parse_json(fields[name], name)
    return fields


def check(model: type[Model], fields: dict[str, Any]) -> Model:
    """Fields as a model.

    Raises:
        RequestValidationError: they do not fit.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_input=False, include_url=False)) from error


def invalid(message: str) -> RequestValidationError:
    """The error for an invalid request."""
    return RequestValidationError([{"type": "value_error", "loc": (), "msg": message}])


def wrong_type(media_type: str, known: Iterable[str]) -> HTTPException:
    """The error for a request of an unsupported type."""
    names = tuple(known)
    example = "text/html" if "text/html" in names else JSON
    return HTTPException(
        415,
        f"the request is {media_type or 'of no type'}; it may be {', '.join(names)}; "
        f"set the type in a header, as in curl -H 'Content-Type: {example}'",
    )
