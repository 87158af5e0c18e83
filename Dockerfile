# The tenure service. The wheel is installed and the work folder lies outside the sources: from a
# checkout as current folder a third party's `import schema` would find ours.
FROM python:3.13-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --wheel-dir /wheels ".[media,neo4j,s3,server,mcp]"

FROM python:3.13-slim-bookworm
ENV PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index --find-links /wheels "tenure[media,neo4j,s3,server,mcp]" \
    && rm -rf /wheels \
    && useradd --system --uid 10001 --create-home --home-dir /var/lib/tenure tenure
USER tenure
WORKDIR /var/lib/tenure
VOLUME ["/var/lib/tenure"]
ENTRYPOINT ["tenure"]
CMD ["--help"]
