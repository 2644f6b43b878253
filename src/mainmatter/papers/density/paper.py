"""What Density describes, and where mainmatter implements it."""

from __future__ import annotations

from mainmatter.papers.paper import Paper, PaperSection, Reproduction

PAPER = Paper(
    name="Density",
    citation='J. Arias, K. Deschacht and M.-F. Moens, "Language Independent Content Extraction from Web Pages", 2009',
    methods=("density",),
    sections=(
        PaperSection("1", "Why pages need cleaning.", note="An introduction; nothing to implement."),
        PaperSection(
            "2",
            "Related methods, among them adapted content code blurring (ACCB): each character is content or code, "
            "and blurred until the values are stable; the tags of links are ignored.",
            ("papers.density.accb:extract_accb",),
            note="For the tables only. The paper gives none of its constants; we chose ours on data that may train.",
        ),
        PaperSection(
            "3",
            "The task: each character of a page is main content or not; the output is text without markup.",
            ("papers.density.method:Density",),
            "mainmatter clean PAGE -m density:preset=paper",
            note="We decide on whole blocks; a block is kept if some of its text is in the region.",
        ),
        PaperSection(
            "figure 1",
            "A page with its main content marked.",
            ("workbench.inspect",),
            "mainmatter serve",
            note="The workbench shows any page like this.",
        ),
        PaperSection(
            "4",
            "A page becomes a list of strings, one for each structural tag.",
            ("papers.density.strings:strings_by_tags",),
            "mainmatter clean PAGE -m density:preset=paper",
            note="The default's strings are blocks: a single <br> starts none, text after an end tag does.",
        ),
        PaperSection(
            "4",
            "The dense region starts at the longest string, and includes each string that is longer than c1 = 0.333 "
            "of it and less than c2 = 4 places away; everything between its ends is the main content.",
            ("papers.density.method:Density",),
            "mainmatter explain PAGE -m density:preset=paper",
        ),
        PaperSection(
            "figure 2",
            "The lengths of the strings of a page, whose main content is the densest region.",
            ("papers.density.reproduce:tables", "render.plot:plot"),
            "mainmatter plot PAGE -m density -o density.png",
            "density",
        ),
        PaperSection(
            "5.1, table 1",
            "14 sets of pages, each of one site.",
            ("lab.datasets:load_dataset",),
            note="They are not available; we use l3s-gn1, daniel-a (also by site) and cleaneval-final.",
        ),
        PaperSection(
            "5.2",
            "Longest common substring and subsequence of characters: precision, recall, F1; spaces do not count.",
            ("lab.metrics.longest:longest_common",),
            "mainmatter evaluate density:preset=paper --on l3s-gn1 --metric lcs",
        ),
        PaperSection(
            "5.3, table 2",
            "F1 of the method compared with that of all text.",
            ("papers.density.reproduce:tables",),
            reproduction="density",
        ),
        PaperSection(
            "figure 3",
            "A slashdot page, whose comments are longer than its main content.",
            ("papers.density.reproduce:tables",),
            reproduction="density",
        ),
        PaperSection(
            "5.3, table 3",
            "LCSequence of the method compared with that of ACCB.",
            ("papers.density.reproduce:tables",),
            reproduction="density",
        ),
        PaperSection(
            "5.3, table 4",
            "Seconds per megabyte of the method and of ACCB.",
            ("papers.density.reproduce:tables",),
            reproduction="density",
            note="The computers differ; compare the ratio of the two.",
        ),
        PaperSection(
            "6",
            "Future work: what the pages of a site have in common; words that distinguish main content from the rest.",
            ("papers.template.method", "papers.ncleaner.method"),
            note="Other papers did this; this one does not describe it.",
        ),
        PaperSection(
            "6",
            "Future work: a polynomial, fitted to the density curve by least squares, and its derivatives.",
            ("papers.density.smoothing:smooth_region",),
            "mainmatter clean PAGE -m density:smoothing=16",
            "density-tuning",
            "Off by default.",
        ),
    ),
    reproductions={
        "density": Reproduction(
            "Density tables 2, 3 and 4, figures 2 and 3: compared with all text and ACCB", "reproduce:tables"
        ),
        "density-tuning": Reproduction(
            "Density 6: a smoothed density curve; the constants of ACCB", "reproduce:tuning"
        ),
    },
)
