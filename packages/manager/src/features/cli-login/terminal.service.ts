// A terminal starts a login, shows its code, and polls until a person has decided in a browser.
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { type Audit, systemActor } from '../../platform/audit/append.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { badRequest, notFound, rateLimited, unavailable } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { checkName } from '../../platform/inputs/inputs.ts'
import { isUsablePublicKey } from '../../platform/secrets/sealed-box.ts'
import type { RateLimit } from '../../platform/throttle/rate-limit.ts'
import type { CliLoginMetrics } from './cli-login.metrics.ts'
import * as store from './cli-login.store.ts'
import { loginEvent } from './login-event.pure.ts'
import { parsePublicKey } from './public-key.pure.ts'
import { newUserCode } from './user-code.pure.ts'

export type TerminalDeps = {
  db: Db
  audit: Audit
  metrics: CliLoginMetrics
  /** The public base URL of the page, without a trailing slash. */
  publicUrl: string
  limits: Record<'pollsOfClient' | 'pollsOfLogin', RateLimit>
}
export type TerminalService = ReturnType<typeof createTerminalService>

/** The origin of the terminal, as the Manager sees it. */
type Origin = { ipAddress: string; network: string; userAgent: string }
export type Poll =
  | { status: 'authorization_pending' | 'slow_down'; interval: number }
  | { status: 'denied' | 'expired' }
  | { loginId: string; sealedToken: Buffer; tokenName: string; expiresAt: string }

const firstInterval = 5
const slowDownSeconds = 5
const maxUserAgent = 500
// With 20^8 possible codes, collisions are rare, and five in a row do not happen.
const codeTries = 5

export function createTerminalService({ db, audit, metrics, publicUrl, limits }: TerminalDeps) {
  return {
    /**
     * Starts a login with one statement. Logins are never rejected because of their number: the oldest pending logins
     * are deleted.
     */
    start: async (given: { publicKey: string; tokenName: string }, origin: Origin) => {
      const publicKey = parsePublicKey(given.publicKey)
      const tokenName = checkName(given.tokenName, 'token_name')
      if (publicKey === null || !(await isUsablePublicKey(publicKey)))
        throw badRequest('public_key must be the base64 or base64url of an X25519 public key, 32 bytes')
      const sessionId = randomBytes(32).toString('base64url')
      const userAgent = origin.userAgent.toWellFormed().slice(0, maxUserAgent).toWellFormed()
      const login = {
        secretHash: hashOf(sessionId),
        publicKey,
        tokenName,
        ipAddress: origin.ipAddress,
        network: origin.network,
        userAgent,
      }
      const { userCode, expiresAt, dropped } = await insert(db, login)
      metrics.logins.inc({ event: 'started' })
      metrics.logins.inc({ event: 'dropped' }, dropped)
      return {
        session_id: sessionId,
        verification_uri: `${publicUrl}/cli/authorize?code=${userCode}`,
        user_code: userCode,
        interval: firstInterval,
        expires_at: expiresAt,
      }
    },

    /**
     * Returns the state of the login. Only one poll receives the token, because it is removed under a row lock. Costs a
     * short transaction of three statements every few seconds per waiting terminal. It never waits for a lock.
     */
    poll: async (sessionId: string, { ipAddress, network, userAgent }: Origin): Promise<Poll> => {
      const secretHash = hashOf(sessionId)
      // The limit per login is checked first, so that a terminal that polls too often does not use up the limit of its
      // network.
      await enforceLimit(limits.pollsOfLogin, secretHash.toString('hex'))
      await enforceLimit(limits.pollsOfClient, network)
      const actor = { ...systemActor('cli-login'), ipAddress, userAgent }
      return db.transaction(async (tx) => {
        const isLocked = await store.lockPolled(tx, secretHash)
        const login = await store.findPolled(tx, secretHash)
        if (login === undefined) throw notFound('login session')
        const response = responseOf(login, isLocked)
        if (response !== null) {
          if ('interval' in response && isLocked) await store.recordPoll(tx, login.id, response.interval)
          return response
        }
        const { id, tokenName } = login
        const [sealedToken, expiresAt] = [login.sealedToken as Buffer, login.tokenExpiresAt as string]
        await store.markFetched(tx, id)
        const after: store.PolledLogin = { ...login, status: 'fetched' }
        await audit.append(tx, actor, loginEvent('deliver', { before: login, after }))
        return { loginId: id, sealedToken, tokenName, expiresAt }
      })
    },
  }
}

/**
 * Returns the response of a poll, or null if the poll receives the token. If the row is locked, the terminal must poll
 * again.
 */
function responseOf(login: store.PolledLogin, isLocked: boolean): Exclude<Poll, { loginId: string }> | null {
  const { status, isExpired, isEarly, intervalSeconds: interval, sealedToken, tokenExpiresAt } = login
  if (status === 'denied') return { status }
  if (isExpired) return { status: 'expired' }
  if (status === 'pending' && isEarly && isLocked)
    return { status: 'slow_down', interval: interval + slowDownSeconds }
  if (status === 'pending') return { status: 'authorization_pending', interval }
  // The token was already fetched, or it was revoked before it could be fetched.
  if (sealedToken === null || tokenExpiresAt === null) return { status: 'expired' }
  return isLocked ? null : { status: 'authorization_pending', interval }
}

async function insert(db: Db, login: Omit<store.NewLogin, 'id' | 'userCode'>) {
  for (let tries = 0; tries < codeTries; tries++) {
    const userCode = newUserCode(randomInt)
    const row = await store.insertLogin(db.write, { id: newId(), userCode, ...login })
    if (row !== undefined) return { userCode, ...row }
  }
  throw unavailable('no free user code was found; try again')
}

async function enforceLimit(limit: RateLimit, name: string): Promise<void> {
  const waitMs = await limit(name)
  if (waitMs > 0) throw rateLimited('too many requests; retry after the time in Retry-After', waitMs)
}

/** Only the hash is stored, so that read access to the table is not sufficient to poll. */
const hashOf = (sessionId: string): Buffer => createHash('sha256').update(sessionId).digest()
