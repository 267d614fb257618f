# The production image of the Manager. Node runs the TypeScript sources; only the console has a build step.
FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/gotemplate/package.json packages/gotemplate/
COPY packages/legacy/package.json packages/legacy/
COPY packages/manager/package.json packages/manager/
# Versions and integrity come from the lock file; no package runs code at install.
RUN npm install --no-save --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-slim AS console
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY packages/client/package.json packages/client/
COPY packages/console/package.json packages/console/
RUN npm install --no-save --ignore-scripts --no-audit --no-fund -w packages/console
COPY packages/client/src packages/client/src
COPY packages/console packages/console
RUN npm run build -w packages/console

FROM node:24-slim
ENV NODE_ENV=production SVC_HOST=0.0.0.0 SVC_HEALTH_HOST=0.0.0.0
WORKDIR /app
# The whole folder is copied, because npm installs some packages below packages/manager.
COPY --from=packages /app ./
COPY --from=console /app/packages/console/dist packages/console/dist
COPY packages/gotemplate/src packages/gotemplate/src
COPY packages/legacy/src packages/legacy/src
COPY packages/manager/migrations packages/manager/migrations
COPY packages/manager/src packages/manager/src
USER node
# Port 8080 is for the proxy only; port 8081 serves health and metrics.
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.SVC_HEALTH_PORT || 8081) + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The exec form lets Node receive SIGTERM, on which the service drains.
CMD ["node", "packages/manager/src/main.ts"]
