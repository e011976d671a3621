# The hub in one image: web, worker and steward differ by their command (docs/operations.md).
#
# Reproducible as far as the sources are: every Python and npm package comes with its hash from the locks.
# Give the base image by digest (--build-arg BASE=python:3.13-slim-bookworm@sha256:…) to fix the rest.
ARG BASE=python:3.13-slim-bookworm

FROM ${BASE} AS build
ENV PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /opt/toolhub
COPY bin ./bin
COPY requirements.txt requirements-dev.txt requirements-node.txt package.json package-lock.json .npmrc ./
COPY static ./static
RUN python bin/setup && rm -rf node_modules .venv/node .venv/.setup-begun

FROM ${BASE}
# bubblewrap holds the tools; git and ssh fetch packages.
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap git openssh-client ca-certificates \
 && rm -rf /var/lib/apt/lists/* /var/log/*.log /var/cache/ldconfig/aux-cache \
 && groupadd --gid 10001 toolhub \
 && useradd --uid 10001 --gid 10001 --home-dir /var/lib/toolhub --no-create-home --shell /usr/sbin/nologin toolhub \
 && install -d -o 10001 -g 10001 -m 0700 /var/lib/toolhub
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 TOOLHUB_DATA=/var/lib/toolhub
WORKDIR /opt/toolhub
COPY --from=build /opt/toolhub/.venv ./.venv
COPY --from=build /opt/toolhub/static ./static
COPY manage.py ./
COPY toolhub ./toolhub
COPY monitoring ./monitoring
COPY execution ./execution
COPY registry ./registry
COPY security ./security
COPY audit ./audit
COPY core ./core
COPY toolhub_sdk ./toolhub_sdk
COPY catalogue ./catalogue
COPY templates ./templates
USER 10001:10001
VOLUME ["/var/lib/toolhub"]
EXPOSE 8000
ENTRYPOINT ["/opt/toolhub/.venv/bin/python", "manage.py"]
CMD ["process", "web", "--host", "0.0.0.0"]
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["/opt/toolhub/.venv/bin/python", "manage.py", "process", "check"]
