# cmd/gatehouse/deploy/build.sh makes the root of the image, for the tests as for here. The image holds that and nothing
# else: no shell, no libraries. For another architecture: docker build --platform linux/arm64
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
ARG TARGETARCH
RUN case "$TARGETARCH" in \
      "$(go env GOHOSTARCH)") ;; \
      arm64) apt-get update && apt-get install -y --no-install-recommends gcc-aarch64-linux-gnu libc6-dev-arm64-cross ;; \
      amd64) apt-get update && apt-get install -y --no-install-recommends gcc-x86-64-linux-gnu libc6-dev-amd64-cross ;; \
    esac
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
ARG REVISION=
RUN VERSION=$VERSION REVISION=$REVISION cmd/gatehouse/deploy/build.sh /root-of-image "$TARGETARCH" && mkdir /data

FROM scratch
ARG VERSION=unknown
ARG REVISION=
LABEL org.opencontainers.image.title="gatehouse" \
      org.opencontainers.image.description="A chat bot that asks before it acts" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.documentation="gatehouse help cmd/gatehouse" \
      org.opencontainers.image.base.name="scratch"
COPY --from=build /root-of-image/ /
COPY --from=build --chown=65532:65532 /data /data
# No name is needed: Kubernetes' runAsNonRoot asks for a number.
USER 65532:65532
ENV GATEHOUSE_DATABASE_URL=sqlite:/data/gatehouse.db
# Listens on all interfaces of the container; docker run -p decides what is published.
ENV GATEHOUSE_LISTEN=0.0.0.0:8080
EXPOSE 8080
VOLUME /data
# There is no shell in the image: the program asks its own /healthz. --start-period covers a database that is not there yet.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["/gatehouse", "health"]
# The program is process 1 and receives SIGTERM itself.
ENTRYPOINT ["/gatehouse"]
CMD ["serve"]
