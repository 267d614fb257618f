// The side of the terminal: it starts a login, shows its code, and polls until somebody has decided in a browser.
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
  /** Where people open the page, without a slash at the end. */
  publicUrl: string
  limits: Record<'pollsOfClient' | 'pollsOfLogin', RateLimit>
}
export type TerminalService = ReturnType<typeof createTerminalService>

/** Where the terminal is, as far as we know. */
type Origin = { ipAddress: string; network: string; userAgent: string }
export type Poll =
  | { status: 'authorization_pending' | 'slow_down'; interval: number }
  | { status: 'denied' | 'expired' }
  | { loginId: string; sealedToken: Buffer; tokenName: string; expiresAt: string }

const firstInterval = 5
const slowDownSeconds = 5
const maxUserAgent = 500
// Two of 20^8 codes are rarely the same, five never.
const codeTries = 5

/** What terminals may do. */
export function createTerminalService({ db, audit, metrics, publicUrl, limits }: TerminalDeps) {
  return {
    /** Costs one statement. Never refused for its number: the oldest pending logins make room. */
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
     * What became of the login. Whoever gets the token is the only one: it is taken out under the lock of its row. Costs a
     * short transaction of three statements, every few seconds for each terminal that waits; it waits for nobody.
     */
    poll: async (sessionId: string, { ipAddress, network, userAgent }: Origin): Promise<Poll> => {
      const secretHash = hashOf(sessionId)
      // The login first: a terminal that asks too often takes nothing from its neighbours.
      await take(limits.pollsOfLogin, secretHash.toString('hex'))
      await take(limits.pollsOfClient, network)
      const actor = { ...systemActor('cli-login'), ipAddress, userAgent }
      return db.transaction(async (tx) => {
        const isLocked = await store.lockPolled(tx, secretHash)
        const login = await store.findPolled(tx, secretHash)
        if (login === undefined) throw notFound('login session')
        const known = answerOf(login, isLocked)
        if (known !== null) {
          if ('interval' in known && isLocked) await store.notePoll(tx, login.id, known.interval)
          return known
        }
        const { id, tokenName } = login
        const [sealedToken, expiresAt] = [login.sealedToken as Buffer, login.tokenExpiresAt as string]
        await store.noteFetched(tx, id)
        const after: store.PolledLogin = { ...login, status: 'fetched' }
        await audit.append(tx, actor, loginEvent('deliver', { before: login, after }))
        return { loginId: id, sealedToken, tokenName, expiresAt }
      })
    },
  }
}

/** What a poll is told; null when it gets the token. One that meets another, or the decision itself, comes again. */
function answerOf(login: store.PolledLogin, isLocked: boolean): Exclude<Poll, { loginId: string }> | null {
  const { status, isOver, isEarly, intervalSeconds: interval, sealedToken, tokenExpiresAt } = login
  if (status === 'denied') return { status }
  if (isOver) return { status: 'expired' }
  if (status === 'pending' && isEarly && isLocked)
    return { status: 'slow_down', interval: interval + slowDownSeconds }
  if (status === 'pending') return { status: 'authorization_pending', interval }
  // Taken already, or the token was revoked before it could be.
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

async function take(limit: RateLimit, name: string): Promise<void> {
  const waitMs = await limit(name)
  if (waitMs > 0)
    throw rateLimited('too many requests of this kind; wait as long as Retry-After says', waitMs)
}

/** Only this is kept: whoever reads the table cannot poll. */
const hashOf = (sessionId: string): Buffer => createHash('sha256').update(sessionId).digest()
