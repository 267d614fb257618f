// The environment variables that tests and fault scenarios start the service with.
import { masterKey, proxySecret } from './callers.ts'
import { redisUrl } from './run-engines.ts'

/** The environment a test app starts with; `undefined` removes a variable. */
export function testEnv(
  databaseUrl: string,
  env: Record<string, string | undefined> = {},
): Record<string, string | undefined> {
  const defaults = {
    SVC_ENV: 'test',
    SVC_DATABASE_URL: databaseUrl,
    SVC_REDIS_URL: redisUrl(),
    // Test files run in parallel from one address. The database name separates their counters.
    SVC_REDIS_KEY_PREFIX: new URL(databaseUrl).pathname.slice(1).replaceAll('_', '-'),
    SVC_PROXY_SECRET: proxySecret,
    SVC_MASTER_KEY: masterKey,
    SVC_DATABASE_POOL_SIZE: '5',
  }
  return { ...defaults, ...env }
}

/** Additional variables for a service that runs as a separate process. */
export const processEnv = (): Record<string, string> => (isLoadTest ? {} : longTimeoutEnv)

// Tests raise these timeouts, so that a busy machine does not make them fail. Load tests keep the production limits.
export const isLoadTest = process.env['TEST_TIER'] === 'load'
export const longTimeoutEnv = {
  SVC_DATABASE_STATEMENT_TIMEOUT_MS: '60000',
  SVC_DATABASE_ACQUIRE_TIMEOUT_MS: '60000',
  SVC_ESB_FORWARD_TIMEOUT: '60s',
  SVC_ESB_BODY_TIMEOUT: '29s',
  SVC_ESB_BODY_STALL_TIMEOUT: '29s',
}
