# docker build -t headlight .
# docker run --init --memory 4g --read-only --tmpfs /tmp -v headlight:/data -p 8501:8501 \
#     -e HEADLIGHT_PASSWORD='a good long one' headlight
# The digest decides, and the tag tells which it is; both come from `docker buildx imagetools inspect python:3.11-slim`.
FROM python:3.11.16-slim-trixie@sha256:be1575ed968de893bd54f4c56315ff7c4736ce522c1bca08fd521731aafc0d76

WORKDIR /headlight
# One index at a time: every file by its hash, then the processor's own torch, a fifth of the size of the one for
# graphics cards, and nothing else from there. The last line fails if anything is missing.
COPY requirements.txt requirements/app.lock ./
RUN pip install --no-cache-dir --require-hashes --no-deps --only-binary :all: -r app.lock \
    && pip install --no-cache-dir --no-deps --index-url https://download.pytorch.org/whl/cpu \
        "$(grep --only-matching '^torch==[^ ]*' requirements.txt)" \
    && pip check

# Nothing runs as root, and with what is compiled here nothing is written but /tmp and /data, which people bring and
# train: the root file system may be read-only. A Space of Hugging Face runs as user 1000, whoever the file names.
RUN useradd --create-home --uid 1000 headlight && install --directory --owner headlight /data
COPY . .
RUN python -m compileall -q .
ENV HEADLIGHT_RUNS=/data/runs HEADLIGHT_MODELS=/data/models HEADLIGHT_CLASSES=/data/classes \
    HEADLIGHT_MULTI30K=/data/multi30k HEADLIGHT_TATOEBA=/data/tatoeba HF_HOME=/data/huggingface
USER headlight
VOLUME /data

# Others reach it, so it starts only with HEADLIGHT_PASSWORD, HEADLIGHT_PUBLIC=1, or --no-password after the command.
ENV HOST=0.0.0.0 PORT=8501
EXPOSE 8501
# Not only that the process lives: that it translates.
HEALTHCHECK --interval=60s --timeout=40s --start-period=60s --retries=3 \
    CMD ["python", "-m", "tools.healthy", "http://127.0.0.1:8501", "--seconds", "35"]
CMD ["python", "-m", "tools.production"]
