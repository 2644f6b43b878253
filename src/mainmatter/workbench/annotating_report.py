"""Figures of agreement as Annotate sends them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mainmatter.workbench.annotating_models import AgreementAnswer, PageAgreementModel, PairModel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mainmatter.workbench.labels.agreement import AgreementReport, PageAgreement, PairAgreement


def pair_models(pairs: Iterable[PairAgreement]) -> list[PairModel]:
    """The agreement of pairs of annotators."""
    return [PairModel(**asdict(pair)) for pair in pairs]


def agreement_answer(report: AgreementReport, hidden: int) -> AgreementAnswer:
    """A report, and how many pages were left out of it because their figures would bias who asks."""
    return AgreementAnswer(
        pages=[_page(page) for page in report.pages],
        pairs=pair_models(report.pairs),
        text=report.text,
        kept=report.kept,
        kept_kappa=report.kept_kappa,
        kind=report.kind,
        kind_kappa=report.kind_kappa,
        lost=report.lost,
        unfinished=report.unfinished,
        hidden=hidden,
    )


def _page(page: PageAgreement) -> PageAgreementModel:
    return PageAgreementModel(
        id=page.page_id,
        text=_mean(pair.text for pair in page.pairs),
        kept_kappa=_mean(pair.kept_kappa for pair in page.pairs),
        kind_kappa=_mean(pair.kind_kappa for pair in page.pairs),
    )


def _mean(figures: Iterable[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if known else None
