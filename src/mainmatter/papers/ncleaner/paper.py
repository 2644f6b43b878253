"""What NCleaner describes, and where mainmatter implements it."""

from __future__ import annotations

from mainmatter.papers.paper import Paper, PaperSection, Reproduction

PAPER = Paper(
    name="NCleaner",
    citation='S. Evert, "A lightweight and efficient tool for cleaning Web pages", 2008',
    methods=("ncleaner",),
    sections=(
        PaperSection(
            "1",
            "Why boilerplate must go, and that character n-grams can distinguish it from text without any markup.",
            here=("papers.ncleaner.method:Ncleaner",),
            command="mainmatter clean -m ncleaner:preset=paper PAGE.html",
        ),
        PaperSection(
            "table 1",
            "Results of the CleanEval competition, NCleaner's among them, by its organisers' edit distance.",
            here=("lab.metrics.alignment",),
            command="mainmatter evaluate ncleaner --on cleaneval-final --metric cleaneval",
            note="Scores of the competition's other systems; the paper's own measure is that of tables 2 to 4.",
        ),
        PaperSection(
            "2, stage 1",
            "Regular expressions delete images, comments and scripts, mark headings and list items, and end paragraphs "
            "at line breaks.",
            here=("papers.ncleaner.lynx:normalise",),
            note="The method itself gets the blocks of our HTML reader, which recognises headings and list items by "
            "their tags; `python -m mainmatter.papers.ncleaner.lynx --lynx --marked PAGE.html` runs stages 1 to 3.",
        ),
        PaperSection(
            "2, stage 2",
            "Lynx turns the page into text, and detects its encoding.",
            here=("papers.ncleaner.lynx:run_lynx", "papers.ncleaner.lynx:like_lynx"),
            note="Lynx 2.9 if it is installed; otherwise our blocks, laid out as Lynx does.",
        ),
        PaperSection(
            "2, stage 3",
            "Invalid characters and fields between vertical bars are deleted, the text is cut into labelled segments.",
            here=("papers.ncleaner.lynx:resolve_marks", "text.read:read_text", "papers.ncleaner.method:has_bars"),
            command="mainmatter clean -m ncleaner:preset=paper DUMP.txt",
            note="The paper does not give its regular expressions; ours for bars deletes much less than theirs.",
        ),
        PaperSection(
            "2, stage 4",
            "A segment is deleted if it is more likely under the dirty model than under the clean one.",
            here=("papers.ncleaner.method:Ncleaner",),
            command="mainmatter clean -m ncleaner:preset=paper PAGE.html",
        ),
        PaperSection(
            "figure 1",
            "The four stages.",
            here=("papers.ncleaner.lynx", "papers.ncleaner.method"),
        ),
        PaperSection(
            "3",
            "N-gram models of ASCII characters, interpolated geometrically (equation 1); differential training; "
            "non-lexical models.",
            here=(
                "papers.ncleaner.ngrams:NgramModel",
                "papers.ncleaner.ngrams:AsciiAlphabet",
                "papers.ncleaner.ngrams:NgramCounts",
            ),
            command="mainmatter train ncleaner:preset=paper --on cleaneval-dev -o MODEL",
            note="The 158 pages of Bauer et al. (2007) are not available; we use cleaneval-dev and readability.",
        ),
        PaperSection(
            "figure 2",
            "Cross-entropy of raw text dumps by n and q, in ten folds.",
            here=("papers.ncleaner.ngrams:cross_entropies",),
            reproduction="ncleaner-tuning",
        ),
        PaperSection(
            "4, table 2",
            "Precision, recall and F-score of words in cross-validation, and paired t-tests.",
            here=("lab.metrics.alignment", "lab.evaluation:paired_t_test"),
            reproduction="ncleaner-internal",
        ),
        PaperSection(
            "figure 3",
            "Differences of precision between NCleaner and the baseline, page by page.",
            here=("papers.ncleaner.reproduce",),
            reproduction="ncleaner-internal",
        ),
        PaperSection(
            "5, table 3",
            "Words on CleanEval's test set, from HTML and from text dumps.",
            here=("papers.ncleaner.reproduce",),
            reproduction="ncleaner-external",
        ),
        PaperSection(
            "table 4",
            "Segment markers on the same pages.",
            here=("papers.ncleaner.reproduce",),
            reproduction="ncleaner-external",
        ),
        PaperSection(
            "figure 4",
            "The learning curve: how many pages are enough.",
            here=("papers.ncleaner.reproduce",),
            reproduction="ncleaner-learning-curve",
        ),
        PaperSection(
            "6",
            "Words per hour, and the size of the models.",
            here=("papers.ncleaner.reproduce",),
            reproduction="ncleaner-speed",
        ),
    ),
    reproductions={
        "ncleaner-external": Reproduction("NCleaner tables 3 and 4: CleanEval's test set", "reproduce:external"),
        "ncleaner-internal": Reproduction(
            "NCleaner table 2, figure 3, t-tests: cross-validation", "reproduce:internal"
        ),
        "ncleaner-learning-curve": Reproduction(
            "NCleaner figure 4: how much training data", "reproduce:learning_curve"
        ),
        "ncleaner-speed": Reproduction("NCleaner 6: words per hour, size of the model", "reproduce:speed"),
        "ncleaner-tuning": Reproduction("NCleaner figure 2: cross-entropy by n and q", "reproduce:tuning"),
    },
)
