# An image that plays one episode: docker build -t codeplan . && docker run --rm --security-opt seccomp=docker/seccomp.json codeplan
# docker/README.md says what the flag is for.
FROM python:3.12-slim AS build
COPY . /source
RUN python -m pip wheel --no-cache-dir --wheel-dir /wheels "/source[mcp,monty]"

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m pip install --no-cache-dir --no-index --find-links /wheels "codeplan[mcp,monty]" \
    && useradd --create-home --uid 10001 codeplan
USER codeplan
WORKDIR /home/codeplan
ENTRYPOINT ["codeplan"]
CMD ["run", "household", "--task", "clean/22", "--mistakes", "forgotten_walk"]
