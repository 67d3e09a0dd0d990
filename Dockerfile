# Tilth with what it needs around it: git and a sandbox. It runs as a user, never as root.
#
#   docker build -t tilth .
#   docker run --rm tilth                      the demo: no key, no network
#
# docs/ci.md says how to run a PRD in it.
FROM python:3.13-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap git \
    && rm -rf /var/lib/apt/lists/*

COPY pyproject.toml constraints.txt README.md LICENSE /tmp/tilth/
COPY tilth /tmp/tilth/tilth
RUN pip install --no-cache-dir --constraint /tmp/tilth/constraints.txt "/tmp/tilth[landlock,notify,otel]" \
    && rm -rf /tmp/tilth

RUN useradd --create-home --uid 1000 tilth \
    && mkdir /work /tilth \
    && chown tilth /work /tilth
# By number, so that a cluster can see it is not root.
USER 1000
# Sessions outlive the container where a volume is mounted here.
ENV TILTH_HOME=/tilth
WORKDIR /work
ENTRYPOINT ["tilth"]
CMD ["demo", "--fast"]
