# docker build -t headlight .
# docker run --init --memory 4g -p 8501:8501 -e HEADLIGHT_PASSWORD='a good long one' headlight
FROM python:3.11-slim

WORKDIR /headlight
# The processor's own torch: a fifth of the size of the one for graphics cards.
COPY requirements.txt .
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu -r requirements.txt

COPY . .
# Nothing runs as root, and only what people bring and train is written: mount volumes there to keep it.
RUN useradd --create-home headlight \
    && mkdir -p runs models static \
    && chown -R headlight runs models static checkpoints
USER headlight
VOLUME ["/headlight/runs", "/headlight/models"]

# Others reach it, so it starts only with HEADLIGHT_PASSWORD, HEADLIGHT_PUBLIC=1, or --no-password after the command.
ENV HOST=0.0.0.0 PORT=8501
EXPOSE 8501
# Not only that the process lives: that it translates.
HEALTHCHECK --interval=60s --timeout=40s --start-period=60s --retries=3 \
    CMD ["python", "-m", "tools.healthy", "http://127.0.0.1:8501", "--seconds", "35"]
CMD ["python", "-m", "tools.production"]
