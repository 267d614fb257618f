// Starts services that have a retention period, adds monthly partitions to the call log, and runs the job that creates
// and drops them.
import { Client } from 'pg'
import { expect } from 'vitest'
import { type TestApp, startTestApp } from './app.ts'
import { type Caller, seedCall } from './esb-calls.ts'
import { waitForLockWait } from './locks.ts'

/** Returns a function that starts services. It prepends them to `services`, and the test must close them. */
export function retainingServices(services: TestApp[]) {
  /** Starts a service. If `database` is set, the service is another replica. */
  async function start(days?: string, database?: TestApp['database']): Promise<TestApp> {
    const service = await startTestApp({
      env: { SVC_ESB_AUDIT_RETENTION_DAYS: days },
      ...(database === undefined ? {} : { database }),
    })
    services.unshift(service)
    return service
  }
  return { start }
}

export const run = (service: TestApp): Promise<void> => {
  const job = service.app.schedules.find(({ name }) => name === 'esb-audit-retention')
  expect(job?.everyMs).toBe(3_600_000)
  return job?.run() ?? Promise.reject(new Error('job esb-audit-retention not found'))
}
export const addMonth = async ({ sql }: TestApp, from: string, to: string): Promise<void> => {
  await sql.query(
    `create table esb_audit_logs_${from.slice(0, 7).replace('-', '_')} partition of esb_audit_logs
     for values from ('${from} 00:00:00+00') to ('${to} 00:00:00+00')`,
  )
}

/** Opens a transaction that reads the log until `end` is called. */
export async function readLog(service: TestApp): Promise<{ end(): Promise<void> }> {
  const reader = new Client({ connectionString: service.database.url })
  await reader.connect()
  await reader.query('begin')
  await reader.query('select from esb_audit_logs')
  return {
    end: async () => {
      await reader.query('rollback')
      await reader.end()
    },
  }
}

/**
 * Logs a call while the job waits for a transaction that reads the log. `failure` resolves with the error of the job,
 * or null.
 */
export async function callDuringRun(
  service: TestApp,
  caller: Caller,
): Promise<{ failure: Promise<unknown> }> {
  const failure = run(service).then(
    () => null,
    (error: unknown) => error,
  )
  await waitForLockWait(service.sql)
  await seedCall(service.sql, caller)
  return { failure }
}
