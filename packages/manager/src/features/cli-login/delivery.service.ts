// This service tracks whether a token arrived. A poll removes the token from the login and sends it. When the response
// is sent, the login is consumed. A token that was not fetched, or whose response was not confirmed as sent, is
// revoked, because it may be lost and no terminal uses it.
import { type Audit, type AuditEvent, systemActor } from '../../platform/audit/append.ts'
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
  /** Revokes the tokens of these logins and records it in the audit trail. */
  const revokeUndelivered = async (tx: Tx, logins: readonly store.CliLogin[]): Promise<void> => {
    if (logins.length === 0) return
    await store.markUndelivered(tx, logins)
    const events: AuditEvent[] = []
    for (const before of logins) {
      events.push(loginEvent('update', { before, after: { ...before, status: 'undelivered' } }))
      const revoked =
        before.accessTokenId === null ? null : await accessTokens.issue.revoke(tx, before.accessTokenId)
      if (revoked !== null) events.push(revoked)
    }
    await audit.append(tx, systemActor('cli-login'), ...events)
  }
  const inTransaction = async (lock: (tx: Tx) => Promise<store.CliLogin[]>): Promise<number> => {
    const count = await db.transaction(async (tx) => {
      const logins = await lock(tx)
      await revokeUndelivered(tx, logins)
      return logins.length
    })
    metrics.logins.inc({ event: 'undelivered' }, count)
    return count
  }
  const inFlight = new Set<Promise<void>>()
  /** Runs in the background; only the shutdown waits for it. The schedule retries failures. */
  const settle = (loginId: string, work: Promise<void>): void => {
    const logged: Promise<void> = work
      .catch((error: unknown) =>
        log.warn({ err: error, cli_login: loginId }, 'could not record the outcome of a terminal login'),
      )
      .finally(() => inFlight.delete(logged))
    inFlight.add(logged)
  }
  const recordSent = async (loginId: string): Promise<void> => {
    if (await store.markConsumed(db.write, loginId)) metrics.logins.inc({ event: 'delivered' })
    else log.warn({ cli_login: loginId }, 'the token of a login was revoked while its response was sent')
  }
  const recordFailed = async (loginId: string): Promise<void> => {
    await inTransaction(async (tx) => {
      const login = await store.lockFetched(tx, loginId)
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
      while (canContinue(await inTransaction((tx) => store.lockUndelivered(tx, batchSize)), batchSize));
      while (canContinue(await store.deleteOld(db.write, deleteBatchSize), deleteBatchSize));
    },
  }
  return {
    schedule,
    /** Records that the response was handed to the network. */
    sent: (loginId: string): void => settle(loginId, recordSent(loginId)),
    /** Records that the connection closed before the response was sent. */
    failed: (loginId: string): void => settle(loginId, recordFailed(loginId)),
    /** Waits for the pending writes. */
    close: async (): Promise<void> => void (await Promise.all(inFlight)),
  }
}
