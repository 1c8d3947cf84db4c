# The SQLite driver is written in C, so the program is linked with a static glibc. The image holds the program and nothing else.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=1 go build -trimpath -tags 'osusergo netgo sqlite_omit_load_extension timetzdata' \
      -ldflags '-s -w -linkmode external -extldflags "-static"' -o /gatehouse ./cmd/gatehouse \
 && mkdir /data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /gatehouse /gatehouse
COPY --from=build --chown=nonroot:nonroot /data /data
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
