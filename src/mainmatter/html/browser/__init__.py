"""Pages as a browser shows them: where each block is and what it looks like. Needs the extra `visual` and a Chromium.

    chromium.Chromium         one browser, for one page or many
    rendering.Rendering       what it says about a page
    rendering.rendering_of    the rendering of a document, by a browser that the whole process shares

Nothing is fetched: pages are shown as their own HTML says, without pictures and style sheets from elsewhere, and their
scripts do not run.
"""
