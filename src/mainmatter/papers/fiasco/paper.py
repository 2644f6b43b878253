"""What FIASCO describes, and where mainmatter implements it."""

from __future__ import annotations

from mainmatter.papers.paper import Paper, PaperSection, Reproduction

PAPER = Paper(
    name="FIASCO",
    citation='D. Bauer et al., "FIASCO: Filtering the Internet by Automatic Subtree Classification, Osnabrück", 2007',
    methods=("fiasco",),
    sections=(
        PaperSection("1", "Why web corpora need cleaning.", note="Nothing to implement."),
        PaperSection(
            "2",
            "Training and cleaning: target nodes, features, a support vector machine, pruning.",
            here=("papers.fiasco.method:Fiasco",),
            command="mainmatter clean -m fiasco:preset=paper page.html",
        ),
        PaperSection(
            "figure 1",
            "A chart of the two phases.",
            here=("papers.fiasco.method:Fiasco", "lab.training.train"),
            note="A drawing; the two phases are `mainmatter train` and `mainmatter clean`.",
        ),
        PaperSection(
            "2.1",
            "Parse any HTML, remove scripts, styles and comments, turn text between line breaks into paragraphs.",
            here=("html.parse", "papers.fiasco.elements:find_elements"),
            note="A parser for today's standard instead of TagSoup.",
        ),
        PaperSection(
            "2.2",
            "Target nodes: 10 % of the text is in immediate children.",
            here=("papers.fiasco.elements:Elements", "papers.fiasco.nodes:find_nodes"),
            note="All elements with the preset; by default one node for each block.",
        ),
        PaperSection(
            "2.3",
            "Scale features to [-1, 1], train LIBSVM.",
            here=("papers.fiasco.method:Fiasco", "papers.fiasco.svm:train_svm"),
            command="mainmatter train fiasco:preset=paper --on cleaneval-dev -o model",
        ),
        PaperSection(
            "2.4",
            "Prune the subtrees of dirty nodes.",
            here=("papers.fiasco.method:Fiasco", "papers.fiasco.elements:Belonging"),
            note="The output consists of blocks: one stays if more than half of its text does.",
        ),
        PaperSection(
            "2.5",
            "Segments are headings (h1 to h4), list items or paragraphs.",
            here=("papers.fiasco.elements", "render.cleaneval"),
            command="mainmatter clean -m fiasco:preset=paper -f cleaneval page.html",
            note="Without the refinements after Lynx, which the paper does not describe.",
        ),
        PaperSection(
            "3.1",
            "Linguistic features, keywords, parts of speech.",
            here=("papers.fiasco.features",),
            note="wordfreq instead of the British National Corpus, HanTa instead of TreeTagger.",
        ),
        PaperSection("3.2", "Structural features.", here=("papers.fiasco.features:listed_structural_features",)),
        PaperSection(
            "3.3",
            "Visual features of the rendered page.",
            here=("papers.fiasco.visual:visual_features", "html.browser.rendering"),
            note="Chromium reports where lines are; the paper paints nodes purple in Firefox.",
        ),
        PaperSection(
            "figure 2",
            "Four regions of a page.",
            here=("papers.fiasco.visual:find_regions",),
            reproduction="fiasco-visual",
            note="The page is not available; we use four regions of a page of ours.",
        ),
        PaperSection(
            "table 1",
            "The visual features of these regions.",
            here=("papers.fiasco.visual:measure_regions",),
            reproduction="fiasco-visual",
        ),
        PaperSection(
            "4.1",
            "The grid search for C and gamma, other kernels, decision trees.",
            here=("papers.fiasco.svm:grid_search",),
            command="mainmatter train fiasco:preset=paper,search=True --on cleaneval-dev -o model",
            reproduction="fiasco-kernels",
        ),
        PaperSection(
            "4.2 and table 2",
            "Accuracy, precision and recall of target nodes with subsets of the features.",
            here=("papers.fiasco.reproduce:feature_subsets",),
            reproduction="fiasco-features",
        ),
        PaperSection(
            "5",
            "A gold standard of 158 pages.",
            here=("lab.datasets",),
            note="It is not available. We use CleanEval's development set and the pages of Readability.",
        ),
        PaperSection(
            "5.1",
            "Gold paragraphs to target nodes by Dice coefficients.",
            here=("papers.fiasco.alignment:label_elements", "papers.fiasco.alignment:match_paragraphs"),
            reproduction="alignment",
        ),
        PaperSection(
            "table 3",
            "Table 2 on the pages that align well.",
            here=("papers.fiasco.reproduce:feature_subsets",),
            reproduction="fiasco-features",
        ),
        PaperSection(
            "6",
            "Precision and recall of the whole system, word by word, with and without pages that are lost.",
            here=("papers.fiasco.reproduce:system",),
            reproduction="fiasco-system",
        ),
        PaperSection(
            "7",
            "Structural and visual features alone for Chinese pages.",
            here=("papers.fiasco.reproduce:chinese",),
            command="mainmatter train fiasco:preset=paper,features=structural+visual --on magic-a -o model",
            reproduction="fiasco-chinese",
        ),
    ),
    reproductions={
        "alignment": Reproduction(
            "FIASCO 5.1: gold text to labels, and how many pages align well", "reproduce:alignment"
        ),
        "fiasco-chinese": Reproduction("FIASCO 7: Chinese pages, without linguistic features", "reproduce:chinese"),
        "fiasco-features": Reproduction("FIASCO tables 2 and 3: feature subsets", "reproduce:feature_subsets"),
        "fiasco-kernels": Reproduction("FIASCO 4.1: grid search, kernels, trees", "reproduce:kernels"),
        "fiasco-system": Reproduction(
            "FIASCO 6: word-level precision and recall of the whole system", "reproduce:system"
        ),
        "fiasco-visual": Reproduction("FIASCO table 1: the visual features of four regions", "reproduce:visual"),
    },
)
