# docker build -t headlight .
# docker run --init --memory 4g -p 8501:8501 -e HEADLIGHT_PASSWORD='a good long one' headlight
# The digest decides, and the tag tells which it is; both come from `docker buildx imagetools inspect python:3.11-slim`.
FROM python:3.11.16-slim-trixie@sha256:be1575ed968de893bd54f4c56315ff7c4736ce522c1bca08fd521731aafc0d76

WORKDIR /headlight
# One index at a time: every file by its hash, then the processor's own torch, a fifth of the size of the one for
# graphics cards, and nothing else from there. The last line fails if anything is missing.
COPY requirements.txt requirements.lock ./
RUN pip install --no-cache-dir --require-hashes --no-deps --only-binary :all: -r requirements.lock \
    && pip install --no-cache-dir --no-deps --index-url https://download.pytorch.org/whl/cpu \
        "$(grep --only-matching '^torch==[^ ]*' requirements.txt)" \
    && pip check

COPY . .
# Nothing runs as root, and only what people bring and train is written: mount volumes there to keep it.
RUN useradd --create-home headlight \
    && mkdir -p runs models classes \
    && chown -R headlight runs models classes checkpoints
USER headlight
VOLUME ["/headlight/runs", "/headlight/models", "/headlight/classes"]

# Others reach it, so it starts only with HEADLIGHT_PASSWORD, HEADLIGHT_PUBLIC=1, or --no-password after the command.
ENV HOST=0.0.0.0 PORT=8501
EXPOSE 8501
# Not only that the process lives: that it translates.
HEALTHCHECK --interval=60s --timeout=40s --start-period=60s --retries=3 \
    CMD ["python", "-m", "tools.healthy", "http://127.0.0.1:8501", "--seconds", "35"]
CMD ["python", "-m", "tools.production"]
