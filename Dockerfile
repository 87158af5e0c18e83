# The tenure service. The wheel is installed and the work folder lies outside the sources: from a
# checkout as current folder a third party's `import schema` would find ours.
FROM python:3.13-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim-bookworm
ENV PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
# Every package by version and hash (`make lock` writes the file anew), then the wheel alone.
COPY requirements.lock /tmp/requirements.lock
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --require-hashes -r /tmp/requirements.lock \
    && pip install --no-cache-dir --no-deps --no-index /wheels/tenure-*.whl \
    && rm -rf /wheels /tmp/requirements.lock \
    && useradd --system --uid 10001 --create-home --home-dir /var/lib/tenure tenure
USER tenure
WORKDIR /var/lib/tenure
VOLUME ["/var/lib/tenure"]
ENTRYPOINT ["tenure"]
CMD ["--help"]
