FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /out/leaderboard ./cmd/leaderboard && mkdir /out/data

# Nothing but the program, which brings its time zones along, and the certificates for rediss:// and webhooks.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/leaderboard /leaderboard
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
ENV LEADERBOARD_ADDR=0.0.0.0:3000 LEADERBOARD_DATA=/data
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s CMD ["/leaderboard", "health"]
ENTRYPOINT ["/leaderboard"]
