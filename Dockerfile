# Two images: `corpus` runs any command, `serve`, the default, also starts the server and looks after its health.
# docs/how-to/install.md says how to use them; `make image` builds and tries them.

ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN python -m venv /opt/mainmatter \
    && MAINMATTER_REQUIRE_COMPILED=1 /opt/mainmatter/bin/pip install --no-cache-dir "/src[http,plot,search,serve]"

FROM python:${PYTHON}-slim AS corpus
COPY --from=build /opt/mainmatter /opt/mainmatter
RUN useradd --uid 1000 --create-home mainmatter && install --directory --owner mainmatter /data
ENV PATH=/opt/mainmatter/bin:$PATH
USER mainmatter
WORKDIR /data
VOLUME /data
ENTRYPOINT ["mainmatter"]
CMD ["--help"]

FROM corpus AS serve
EXPOSE 8000
HEALTHCHECK --start-period=30s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/api/health', timeout=5)"]
CMD ["serve", "--host", "0.0.0.0"]
