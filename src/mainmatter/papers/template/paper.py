"""What Template describes, and where it is here."""

from __future__ import annotations

from mainmatter.papers.paper import Paper, Reproduction

PAPER = Paper(
    name="Template",
    citation="L. Ma, N. Goharian and A. Chowdhury, "
    '"Extracting Unstructured Data from Template Generated Web Documents", 2003',
    methods=("template",),
    sections=(),
    reproductions={
        "retrieval": Reproduction(
            "Template 4.3, figure 2: search with and without the template", "reproduce_retrieval:retrieval"
        ),
        "template-clusters": Reproduction("Template 4.2: min-max clustering of pages", "reproduce:clusters"),
        "template-discovery": Reproduction(
            "Template table 2: how much of the templates is found", "reproduce:discovery"
        ),
        "template-main": Reproduction(
            "what `main` gains if it knows what sites repeat", "reproduce:main_with_templates"
        ),
        "template-pages": Reproduction("Template figure 3: how many pages are enough", "reproduce:number_of_pages"),
        "template-ratio": Reproduction("Template table 1: how much of sites is template", "reproduce:ratio"),
    },
)
