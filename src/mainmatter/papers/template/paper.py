"""What Template describes, and where mainmatter implements it."""

from __future__ import annotations

from mainmatter.papers.paper import Paper, PaperSection, Reproduction

PAPER = Paper(
    name="Template",
    citation="L. Ma, N. Goharian and A. Chowdhury, "
    '"Extracting Unstructured Data from Template Generated Web Documents", 2003',
    methods=("template",),
    sections=(
        PaperSection(
            "1",
            "Templates spoil search: a query finds every page that has its words in the navigation bar.",
            ("papers.template.method:Template",),
            "mainmatter clean FOLDER --method template:preset=paper --site-templates",
        ),
        PaperSection(
            "table 1",
            "The share of text that is template, for eight sites.",
            ("papers.template.reproduce:ratio",),
            reproduction="template-ratio",
            note="The sites are not available; we use made-up sites and two gold standards.",
        ),
        PaperSection("2", "Related work.", note="Nothing to implement."),
        PaperSection(
            "3",
            "What a template is, and the unit: the table text chunk, the text between two nearest table tags.",
            ("papers.template.chunks:find_chunks",),
            "mainmatter clean FOLDER --method template:unit=table --site-templates",
            note="Ours is the text between two nearest tags of any container.",
        ),
        PaperSection(
            "figure 1",
            "The process: I-Match with SHA-1 removes duplicates, a first pass counts on how many pages each chunk is, "
            "a second one drops those over a threshold.",
            (
                "papers.template.imatch:imatch_signatures",
                "papers.template.site_counts:SiteCounts",
                "papers.template.method:Template",
            ),
            "mainmatter clean FOLDER --method template:preset=paper --site-templates",
            note="The method's page lists what the paper leaves open.",
        ),
        PaperSection(
            "4.1",
            "The data: 55,711 pages of cnnfn, 10,000 queries.",
            note="Not available; each results page says what we use instead.",
        ),
        PaperSection(
            "4.2",
            "Min-max clustering of pages by template, tried and abandoned.",
            ("papers.template.site_counts:cluster_sets", "papers.template.reproduce:clusters"),
            reproduction="template-clusters",
            note="Measured on made-up sites.",
        ),
        PaperSection(
            "4.3",
            "Queries with template terms, judged by people, BM25.",
            (
                "papers.template.reproduce_retrieval:draw_queries",
                "papers.template.reproduce_retrieval:search_collection",
            ),
            note="Queries are drawn at random, and gold texts say which pages are relevant.",
        ),
        PaperSection(
            "4.3.1",
            "Which queries get better and worse; two engines, for extracted text and for all text, and a switch.",
            ("papers.template.reproduce_retrieval:compare", "papers.template.reproduce_retrieval:switch_engines"),
            note="The paper does not say what switches; we show the better engine, and a choice by the query's words.",
        ),
        PaperSection(
            "figure 2",
            "Relevant pages among the first 1, 5 and 10, with and without the template.",
            ("papers.template.reproduce_retrieval:draw_figure_2",),
            reproduction="retrieval",
        ),
        PaperSection(
            "table 2",
            "The template table discovery ratio of eight sites.",
            ("papers.template.reproduce:discovery",),
            reproduction="template-discovery",
            note="Of made-up sites, and of real ones by what they repeat.",
        ),
        PaperSection(
            "4.4",
            "The size of a sample, and the ratio of 200 pages of a large collection.",
            ("papers.template.reproduce:sample_size",),
            reproduction="template-discovery",
            note="On a large made-up site.",
        ),
        PaperSection(
            "figure 3",
            "How many pages are enough, and how much time that saves.",
            ("papers.template.reproduce:number_of_pages",),
            reproduction="template-pages",
        ),
        PaperSection(
            "5",
            "Conclusions: extracted text instead of all text.",
            ("main.site:know_site", "papers.template.reproduce:main_with_templates"),
            reproduction="template-main",
            note="Not in the paper: `main` uses the counts as one more signal.",
        ),
    ),
    reproductions={
        "retrieval": Reproduction(
            "Template 4.3, figure 2: search with and without the template", "reproduce_retrieval:retrieval"
        ),
        "template-clusters": Reproduction("Template 4.2: min-max clustering of pages", "reproduce:clusters"),
        "template-discovery": Reproduction(
            "Template table 2: how much of the templates is found", "reproduce:discovery"
        ),
        "template-main": Reproduction(
            "what `main` gains from knowing what sites repeat", "reproduce:main_with_templates"
        ),
        "template-pages": Reproduction("Template figure 3: how many pages are enough", "reproduce:number_of_pages"),
        "template-ratio": Reproduction("Template table 1: how much of a site is template", "reproduce:ratio"),
    },
)
