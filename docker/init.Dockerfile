# An init container's image: it copies posidle and its Node into a shared volume, so that the unchanged Fluentd image runs them.
#   npm ci && npm run build && docker build -f docker/init.Dockerfile -t posidle-init:0.1.0 .
# To pin the base: --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:…, with the digest that
# `docker buildx imagetools inspect node:24-bookworm-slim` prints first. Renew it with each release of the base.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE}
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="posidle-init" \
      org.opencontainers.image.description="Copies posidle and its Node into a volume that another container shares" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="MIT"
# Not below /opt: that is where the volume comes to stand.
COPY dist/posidle.cjs dist/posidle.LICENSES.txt /usr/local/lib/posidle/
# Node with its own loader and libraries runs in any image. No LD_LIBRARY_PATH: Fluentd, posidle's child, would inherit it.
RUN cd /usr/local/lib/posidle && cp "$(command -v node)" node && mkdir lib && cp $(ldd node | grep -o '/[^ )]*') lib/ && \
    printf '%s\n' '#!/bin/sh' 'home=$(dirname "$(readlink -f "$0")")' \
      'exec "$home"/lib/ld-* --library-path "$home/lib" "$home/node" "$home/posidle.cjs" "$@"' >posidle && \
    chmod -R a+rX . && chmod 755 posidle
USER 65534:65534
ENTRYPOINT ["cp", "-rf", "/usr/local/lib/posidle/."]
CMD ["/posidle"]
