// A terminal starts a login, shows its code, and polls until a person has decided in a browser.
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { type Audit, createSystemActor } from '../../platform/audit/append.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { badRequest, notFound, rateLimited, unavailable } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { checkName } from '../../platform/inputs/inputs.ts'
import { isUsablePublicKey } from '../../platform/secrets/sealed-box.ts'
import type { RateLimit } from '../../platform/throttle/rate-limit.ts'
import type { CliLoginMetrics } from './cli-login.metrics.ts'
import * as store from './cli-login.store.ts'
import { loginEvent } from './login-event.pure.ts'
import { parsePublicKey } from './public-key.pure.ts'
import { createUserCode } from './user-code.pure.ts'

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
const maxUserAgentLength = 500
// With 20^8 possible codes, collisions are rare, and five in a row practically never happen.
const maxCodeAttempts = 5

export function createTerminalService({ db, audit, metrics, publicUrl, limits }: TerminalDeps) {
  return {
    /**
     * Starts a login with one statement. Logins are never rejected because of their number. Instead, the
     * oldest pending logins are deleted.
     */
    start: async (input: { publicKey: string; tokenName: string }, origin: Origin) => {
      const parsedKey = parsePublicKey(input.publicKey)
      const isUsable = parsedKey !== null && (await isUsablePublicKey(parsedKey))
      const { token_name: tokenName, public_key: publicKey } = checkFields({
        token_name: () => checkName(input.tokenName, 'token_name'),
        public_key: () => {
          if (parsedKey === null || !isUsable)
            throw badRequest('public_key must be an X25519 public key (32 bytes) in base64 or base64url')
          return parsedKey
        },
      })
      const sessionId = randomBytes(32).toString('base64url')
      const userAgent = origin.userAgent.toWellFormed().slice(0, maxUserAgentLength).toWellFormed()
      const login = {
        secretHash: hashSession(sessionId),
        publicKey,
        tokenName,
        ipAddress: origin.ipAddress,
        network: origin.network,
        userAgent,
      }
      const { userCode, expiresAt, dropped } = await insertWithFreeCode(db, login)
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
     * Returns the state of the login. Only one poll receives the token, because the token is removed under a
     * row lock. Each waiting terminal costs a short transaction of three statements every few seconds. The
     * transaction never waits for a lock.
     */
    poll: async (sessionId: string, { ipAddress, network, userAgent }: Origin): Promise<Poll> => {
      const secretHash = hashSession(sessionId)
      // The limit per login is checked first. Otherwise, one terminal that polls too often would exhaust the
      // limit of its network.
      await enforceLimit(limits.pollsOfLogin, secretHash.toString('hex'))
      await enforceLimit(limits.pollsOfClient, network)
      const actor = { ...createSystemActor('cli-login'), ipAddress, userAgent }
      return db.transaction(async (tx) => {
        const isLocked = await store.lockPolledLogin(tx, secretHash)
        const login = await store.findPolledLogin(tx, secretHash)
        if (login === undefined) throw notFound('login session')
        const response = getPollResponse(login, isLocked)
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
 * Returns the response of a poll, or null if the poll receives the token. If another transaction has locked
 * the row, the terminal must poll again.
 */
function getPollResponse(
  login: store.PolledLogin,
  isLocked: boolean,
): Exclude<Poll, { loginId: string }> | null {
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

async function insertWithFreeCode(db: Db, login: Omit<store.NewLogin, 'id' | 'userCode'>) {
  for (let attempt = 0; attempt < maxCodeAttempts; attempt++) {
    const userCode = createUserCode(randomInt)
    const row = await store.insertLogin(db.write, { id: newId(), userCode, ...login })
    if (row !== undefined) return { userCode, ...row }
  }
  throw unavailable('no free user code was found; try again')
}

async function enforceLimit(limit: RateLimit, name: string): Promise<void> {
  const waitMs = await limit(name)
  if (waitMs > 0) throw rateLimited('too many requests; retry after the time in Retry-After', waitMs)
}

/** Only the hash is stored, because read access to the table must not be sufficient to poll. */
const hashSession = (sessionId: string): Buffer => createHash('sha256').update(sessionId).digest()
