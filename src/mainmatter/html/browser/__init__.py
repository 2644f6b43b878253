"""Pages as a browser shows them: where each block is and what it looks like. Needs the extra `visual` and a Chromium.

    chromium.Chromium         one browser, for one page or many
    rendering.Rendering       what it measures on a page
    rendering.rendering_of    the rendering of a document, by a browser that the whole process shares

Nothing is fetched: pages are rendered from their own HTML, without external pictures and style sheets, and their
scripts do not run.
"""
