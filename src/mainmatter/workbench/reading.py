"""Requests to fields: JSON, forms with files, and bare pages, all with the same names; query parameters join them."""

from __future__ import annotations

from email.message import Message
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json
from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request

Model = TypeVar("Model", bound=BaseModel)

FORM = "multipart/form-data"
JSON = "application/json"
_MOST_FIELDS = 50
_LONGEST_FIELD = 1_000_000  # bytes, of a form's fields that are no files


class File(NamedTuple):
    """A file that was uploaded."""

    name: str
    data: bytes


class StrictModel(BaseModel):
    """A model that takes no fields but its own."""

    model_config = ConfigDict(extra="forbid")


def content_type(request: Request) -> tuple[str, str | None]:
    """The media type of a request and its charset; "" where it says none."""
    header = request.headers.get("content-type", "")
    message = Message()
    message["Content-Type"] = header
    media_type = header.partition(";")[0].strip().lower()
    try:
        return media_type, message.get_content_charset()
    except Exception:  # what clients put into headers may be anything
        return media_type, None


async def read_json(request: Request) -> dict[str, Any]:
    """The fields of a JSON object.

    Raises:
        RequestValidationError: it is none.
    """
    try:
        fields = from_json(await request.body(), allow_inf_nan=False)
    except ValueError as error:
        raise invalid(f"the request is no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise invalid("the request is JSON, but no object")
    return fields


async def read_form(request: Request) -> tuple[File, list[tuple[str, str]]]:
    """The file that a form holds, and its other fields.

    Raises:
        RequestValidationError: it cannot be read, or holds no file, or more than one.
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
    """Fields that were sent as texts: a switch without a value is on, and `options` is JSON.

    Raises:
        RequestValidationError: `options` is no JSON.
    """
    fields: dict[str, Any] = {}
    for name, value in pairs:
        fields[name] = True if name in switches and value == "" else value
    if isinstance(fields.get("options"), str):
        try:
            fields["options"] = from_json(fields["options"], allow_inf_nan=False)
        except ValueError as error:
            raise invalid(f"options: no JSON: {error}") from error
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
    """The error for a request that is not as it should be."""
    return RequestValidationError([{"type": "value_error", "loc": (), "msg": message}])


def wrong_type(media_type: str, known: Iterable[str]) -> HTTPException:
    """The error for a request of a type that nobody reads here."""
    names = tuple(known)
    example = "text/html" if "text/html" in names else JSON
    return HTTPException(
        415,
        f"the request is {media_type or 'of no type'}; it may be {', '.join(names)}; say what it is with a header, as "
        f"in curl -H 'Content-Type: {example}'",
    )
