// This service tracks whether a token was delivered. A poll removes the token from the login and sends it. When the
// response is sent, the login is consumed. If no poll fetched the token in time, or if the response was not confirmed
// as sent, the token may be lost. The service then revokes it.
import { type Audit, type AuditEvent, createSystemActor } from '../../platform/audit/append.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import type { Schedule } from '../../platform/jobs/schedules.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { AccessTokensApi } from '../access-tokens/index.ts'
import type { CliLoginMetrics } from './cli-login.metrics.ts'
import * as store from './cli-login.store.ts'
import { loginEvent } from './login-event.pure.ts'

export type DeliveryDeps = {
  db: Db
  audit: Audit
  log: Logger
  metrics: CliLoginMetrics
  accessTokens: Pick<AccessTokensApi, 'issue'>
}
export type Delivery = ReturnType<typeof createDelivery>

const everyMs = 15_000
const batchSize = 100
const deleteBatchSize = 1_000

/** Confirms deliveries, and revokes tokens that were not delivered. */
export function createDelivery({ db, audit, log, metrics, accessTokens }: DeliveryDeps) {
  /** Revokes the tokens of the logins and records the revocations in the audit trail. */
  const revokeUndelivered = async (tx: Tx, logins: readonly store.CliLogin[]): Promise<void> => {
    if (logins.length === 0) return
    await store.markUndelivered(tx, logins)
    const events: AuditEvent[] = []
    for (const before of logins) {
      events.push(loginEvent('update', { before, after: { ...before, status: 'undelivered' } }))
      const revokeEvent =
        before.accessTokenId === null ? null : await accessTokens.issue.revoke(tx, before.accessTokenId)
      if (revokeEvent !== null) events.push(revokeEvent)
    }
    await audit.append(tx, createSystemActor('cli-login'), ...events)
  }
  const revokeLocked = async (lock: (tx: Tx) => Promise<store.CliLogin[]>): Promise<number> => {
    const count = await db.transaction(async (tx) => {
      const logins = await lock(tx)
      await revokeUndelivered(tx, logins)
      return logins.length
    })
    metrics.logins.inc({ event: 'undelivered' }, count)
    return count
  }
  const pendingWrites = new Set<Promise<void>>()
  /**
   * Runs the work in the background. Only the shutdown waits for the work, and the schedule retries failures.
   */
  const settle = (loginId: string, work: Promise<void>): void => {
    const loggedWork: Promise<void> = work
      .catch((error: unknown) =>
        log.warn({ err: error, cli_login: loginId }, 'could not record the outcome of a terminal login'),
      )
      .finally(() => pendingWrites.delete(loggedWork))
    pendingWrites.add(loggedWork)
  }
  const recordSent = async (loginId: string): Promise<void> => {
    if (await store.markConsumed(db.write, loginId)) metrics.logins.inc({ event: 'delivered' })
    else log.warn({ cli_login: loginId }, 'the token of a login was revoked while its response was sent')
  }
  const recordFailed = async (loginId: string): Promise<void> => {
    await revokeLocked(async (tx) => {
      const login = await store.lockFetchedLogin(tx, loginId)
      return login === undefined ? [] : [login]
    })
  }
  const schedule: Schedule = {
    name: 'cli-logins',
    everyMs,
    run: async (signal) => {
      const canContinue = (count: number, limit: number): boolean =>
        count === limit && signal?.aborted !== true
      await store.markUsed(db.idempotent)
      while (canContinue(await revokeLocked((tx) => store.lockUndeliveredLogins(tx, batchSize)), batchSize));
      while (canContinue(await store.deleteExpiredLogins(db.write, deleteBatchSize), deleteBatchSize));
    },
  }
  return {
    schedule,
    /** Records that the response was handed to the network. */
    onSent: (loginId: string): void => settle(loginId, recordSent(loginId)),
    /** Records that the connection closed before the response was sent. */
    onFailed: (loginId: string): void => settle(loginId, recordFailed(loginId)),
    /** Waits for the pending writes. */
    close: async (): Promise<void> => void (await Promise.all(pendingWrites)),
  }
}
