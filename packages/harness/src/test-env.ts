// The environment variables of the service in tests and fault scenarios.
import { masterKey, proxySecret } from './callers.ts'
import { redisUrl } from './run-engines.ts'

/** The environment variables of a test app. `undefined` removes a variable. */
export function testEnv(
  databaseUrl: string,
  env: Record<string, string | undefined> = {},
): Record<string, string | undefined> {
  const defaults = {
    SVC_ENV: 'test',
    SVC_DATABASE_URL: databaseUrl,
    SVC_REDIS_URL: redisUrl(),
    // Test files run in parallel and use the same client address. The database name separates their counters.
    SVC_REDIS_KEY_PREFIX: new URL(databaseUrl).pathname.slice(1).replaceAll('_', '-'),
    SVC_PROXY_SECRET: proxySecret,
    SVC_MASTER_KEY: masterKey,
    SVC_DATABASE_POOL_SIZE: '5',
  }
  return { ...defaults, ...env }
}

/** Additional variables for a service that runs as a separate process. */
export const processEnv = (): Record<string, string> => (isLoadTest ? {} : longTimeoutEnv)

// Tests use longer timeouts, so that they do not fail on a busy machine. Load tests use the production
// limits.
export const isLoadTest = process.env['TEST_TIER'] === 'load'
export const longTimeoutEnv = {
  SVC_DATABASE_STATEMENT_TIMEOUT_MS: '60000',
  SVC_DATABASE_ACQUIRE_TIMEOUT_MS: '60000',
  SVC_ESB_FORWARD_TIMEOUT: '60s',
  SVC_ESB_BODY_TIMEOUT: '29s',
  SVC_ESB_BODY_STALL_TIMEOUT: '29s',
}
