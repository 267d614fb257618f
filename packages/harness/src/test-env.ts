// The environment that a service of a test or of a fault row starts with.
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
    // Test files run side by side from one address; the database tells their counters apart.
    SVC_REDIS_KEY_PREFIX: new URL(databaseUrl).pathname.slice(1).replaceAll('_', '-'),
    SVC_PROXY_SECRET: proxySecret,
    SVC_MASTER_KEY: masterKey,
    SVC_DATABASE_POOL_SIZE: '5',
  }
  return { ...defaults, ...env }
}

/** What the environment of a process adds to that. */
export const processEnv = (): Record<string, string> => (isLoadTest ? {} : patientEnv)

// A busy machine makes everything slow. What would end or refuse because of that waits here far longer, and a hash that
// is quick saves most of the time; none of it can be reached by settings of the service, the timeouts apart.
export const isLoadTest = process.env['TEST_TIER'] === 'load'
export const patientEnv = {
  SVC_DATABASE_STATEMENT_TIMEOUT_MS: '60000',
  SVC_DATABASE_ACQUIRE_TIMEOUT_MS: '60000',
  SVC_ESB_FORWARD_TIMEOUT: '60s',
  SVC_ESB_BODY_TIMEOUT: '29s',
  SVC_ESB_BODY_STALL_TIMEOUT: '29s',
}
