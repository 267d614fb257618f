// Whether a token arrived. Once a poll has taken it out, its response is on its way; when that was sent, the login is
// consumed. A token that was never fetched, or whose response was never known to be sent, is revoked: it may be lost, and
// nobody would miss it.
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
const atOnce = 100
const deletedAtOnce = 1_000

/** What follows a response with a token. */
export function createDelivery({ db, audit, log, metrics, accessTokens }: DeliveryDeps) {
  /** Revokes their tokens, and says so in the trail. */
  const giveUp = async (tx: Tx, logins: readonly store.CliLogin[]): Promise<void> => {
    if (logins.length === 0) return
    await store.noteUndelivered(tx, logins)
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
      await giveUp(tx, logins)
      return logins.length
    })
    metrics.logins.inc({ event: 'undelivered' }, count)
    return count
  }
  const inFlight = new Set<Promise<void>>()
  /** Only the end of the process waits for it; what fails is done by the schedule. */
  const settle = (loginId: string, work: Promise<void>): void => {
    const logged: Promise<void> = work
      .catch((error: unknown) =>
        log.warn({ err: error, cli_login: loginId }, 'the end of a login from a terminal was not noted'),
      )
      .finally(() => inFlight.delete(logged))
    inFlight.add(logged)
  }
  const noteSent = async (loginId: string): Promise<void> => {
    if (await store.noteConsumed(db.write, loginId)) metrics.logins.inc({ event: 'delivered' })
    else log.warn({ cli_login: loginId }, 'the token of a login was revoked while its response was sent')
  }
  const noteFailed = async (loginId: string): Promise<void> => {
    await inTransaction(async (tx) => {
      const login = await store.lockFetched(tx, loginId)
      return login === undefined ? [] : [login]
    })
  }
  const schedule: Schedule = {
    name: 'cli-logins',
    everyMs,
    run: async (signal) => {
      const goesOn = (count: number, limit: number): boolean => count === limit && signal?.aborted !== true
      await store.noteUsed(db.idempotent)
      while (goesOn(await inTransaction((tx) => store.lockUndelivered(tx, atOnce)), atOnce));
      while (goesOn(await store.deleteOld(db.write, deletedAtOnce), deletedAtOnce));
    },
  }
  return {
    schedule,
    /** The response was handed to the network. */
    sent: (loginId: string): void => settle(loginId, noteSent(loginId)),
    /** The connection ended before that. */
    failed: (loginId: string): void => settle(loginId, noteFailed(loginId)),
    /** Waits for what is being noted. */
    close: async (): Promise<void> => void (await Promise.all(inFlight)),
  }
}
