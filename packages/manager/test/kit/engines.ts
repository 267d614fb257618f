// Where the tests find PostgreSQL and Redis. `.ci/run` and `npm run dev` start their own; a machine that has them on
// the usual ports needs nothing.

const variables = process.env

/** A superuser's connection to the server the tests use. */
export const adminUrl = (): string =>
  variables['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres'

/** The Redis the tests use. */
export const redisUrl = (): string => variables['TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379'
