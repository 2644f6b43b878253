"""What ICE describes, and where mainmatter implements it."""

from __future__ import annotations

from mainmatter.papers.paper import Paper, PaperSection, Reproduction

PAPER = Paper(
    name="ICE",
    citation='K. Hofmann and W. Weerkamp, "Web Corpus Cleaning using Content and Structure", 2007',
    methods=("ice-baseline", "ice-heuristic", "ice-elaborate", "ice-tree", "ice-lm", "ice-regex"),
    sections=(
        PaperSection(
            "1, 2",
            "Cleaning as a step before other work; earlier systems, by layout and by the templates of sites.",
            note="Nothing to implement.",
        ),
        PaperSection(
            "3.1",
            "The baseline: all text, every block-level element a paragraph, two line breaks a paragraph boundary.",
            ("papers.ice.baseline:IceBaseline", "html.segment:segment"),
            "mainmatter clean -m ice-baseline:preset=paper page.html",
        ),
        PaperSection(
            "3.2",
            "Heuristics: lines of the page without tags, kept by the length of their words; headings before them.",
            ("papers.ice.heuristic:IceHeuristic", "papers.ice.source:Source"),
            "mainmatter clean -m ice-heuristic:preset=paper page.html",
        ),
        PaperSection("figure 1", "The algorithm of the heuristics.", ("papers.ice.heuristic:IceHeuristic",)),
        PaperSection(
            "3.2, end",
            "More elaborate heuristics: pseudo-probabilities of list item, heading and paragraph.",
            ("papers.ice.elaborate:IceElaborate",),
            "mainmatter clean -m ice-elaborate:preset=paper page.html",
            note="The paper gives no weights and no threshold; these are ours.",
        ),
        PaperSection(
            "3.3, figure 2",
            "A C4.5 tree over five features, trained on elements that occur in the cleaned files; ten-fold error.",
            ("papers.ice.tree:IceTree", "papers.ice.tree:match_labels", "papers.ice.decision_tree:grow_tree"),
            reproduction="ice-tree",
        ),
        PaperSection(
            "3.4",
            "Language models: elements whose model is close to that of title, headings and keywords.",
            ("papers.ice.lm:IceLm", "papers.ice.lm:QueryModel"),
            "mainmatter clean -m ice-lm:preset=paper page.html",
            note="The paper does not give the discount and the threshold.",
        ),
        PaperSection(
            "3.5",
            "A genetic search for a regular expression that captures the content of the HTML.",
            ("papers.ice.regex:IceRegex", "papers.ice.genetic:search", "papers.ice.expressions:HTML"),
            reproduction="ice-regex",
            note="The paper gives only two of the literals.",
        ),
        PaperSection(
            "4, table 1",
            "Minimum, maximum and average of CleanEval's scores, and how often each system is the best.",
            ("papers.ice.reproduce:table_1", "lab.metrics.alignment:cleaneval_score"),
            reproduction="ice-table-1",
            note="The organisers' script is not available; ours scores higher, above all with markup.",
        ),
        PaperSection(
            "5",
            "Future work: finer features, weights, the KL divergence in the tree; bold text in the query.",
            ("papers.ice.tree:IceTree", "papers.ice.lm:IceLm"),
            "mainmatter train ice-tree:features=fine,kl=True --on cleaneval-dev -o model",
        ),
    ),
    reproductions={
        "ice-regex": Reproduction("ICE 3.5: genetic search for a regular expression", "reproduce:regex"),
        "ice-table-1": Reproduction("ICE table 1: CleanEval scores of all its methods", "reproduce:table_1"),
        "ice-tree": Reproduction(
            "ICE 3.3: ten-fold error of the decision tree, and figure 2", "reproduce:decision_tree"
        ),
    },
)
