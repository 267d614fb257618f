// Identifies the owner of a presented personal access token. Every call reads the row, coalesced with other
// calls in flight. Every replica therefore rejects a revoked or expired token immediately. Only the result of
// the slow hash is cached.
import type { KeyObject } from 'node:crypto'
import type { Database } from '../../platform/postgres/database.ts'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { PresentedSecret, Verifier } from '../../platform/credentials/verifier.ts'
import { AppError, rateLimited } from '../../platform/errors.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Throttle } from '../../platform/throttle/throttle.ts'
import type { LastUses } from './last-uses.service.ts'
import { type TokenLogin, readTokenLogins } from './access-tokens.store.ts'
import { hasValidChecksum, parseTokenPrefix } from './token.pure.ts'
import { createPrefixQueue, createUncheckedTokens } from './unchecked-tokens.service.ts'

export type PresentedToken = {
  prefix: string
  secret: PresentedSecret
  /**
   * True if the checksum is correct or the token was verified before. Any other token can be valid only if an
   * older installation issued it.
   */
  hasChecksum: boolean
}
export type TokenLoginService = ReturnType<typeof createTokenLoginService>

export type TokenLoginDeps = {
  database: Pick<Database, 'run'>
  verifier: Verifier
  metrics: Metrics
  checkKey: KeyObject
  /** Keys derived from previous master keys. Tokens issued with them are still valid. */
  retiredCheckKeys: readonly KeyObject[]
  lastUses: LastUses
  /**
   * Counts wrong tokens that were hashed, by prefix. Such a token has a correct checksum, or is a guess at a token
   * from an older installation.
   */
  forgeries: Throttle
}

/** Creates the service that authenticates personal access tokens. */
export function createTokenLoginService(deps: TokenLoginDeps) {
  const { database, verifier, metrics, lastUses, forgeries } = deps
  const checkKeys = [deps.checkKey, ...deps.retiredCheckKeys]
  const hasUnchecked = createUncheckedTokens(database)
  const queueByPrefix = createPrefixQueue<boolean>()
  const findLogin = createCoalescer<string, TokenLogin>({
    getKey: (prefix) => prefix,
    run: (prefixes) => readTokenLogins(database.run, prefixes),
  })

  /**
   * Parses a token. Returns null if this installation cannot have issued it. The cost is one HMAC for a known
   * token, otherwise two.
   */
  const parsePresentedToken = async (text: string): Promise<PresentedToken | null> => {
    const prefix = parseTokenPrefix(text)
    if (prefix === null) return null
    const secret = verifier.present(text)
    const hasChecksum = verifier.isKnown(secret) || hasValidChecksum(text, checkKeys)
    return hasChecksum || (await hasUnchecked()) ? { prefix, secret, hasChecksum } : null
  }

  const verifyHash = async ({ prefix, secret }: PresentedToken, hash: string, blockedMs: number) => {
    if (blockedMs > 0 && !verifier.isKnown(secret))
      throw rateLimited('too many wrong tokens with this prefix; try again later', blockedMs)
    const isCorrect = await verifier.verify(secret, hash, { lane: 'token', owner: prefix })
    if (!isCorrect) await forgeries.fail(prefix)
    return isCorrect
  }
  /**
   * Returns whether the hash belongs to this token. Tokens without a correct checksum wait in a queue. Other
   * tokens need no queue, because forging a checksum requires the key of this installation.
   */
  const verify = (token: PresentedToken, hash: string): Promise<boolean> => {
    const { prefix, secret, hasChecksum } = token
    if (hasChecksum) return verifyHash(token, hash, forgeries.getKnownBlockMs(prefix))
    return queueByPrefix(prefix, secret.fingerprint, async () =>
      verifyHash(token, hash, await forgeries.getBlockedMs(prefix)),
    )
  }

  /** Returns whether the row is usable and its hash belongs to this token. Records the use. */
  const matches = async (
    token: PresentedToken,
    row: Pick<TokenLogin, 'id' | 'hash' | 'usable' | 'unchecked'>,
  ): Promise<boolean> => {
    if (!row.usable || !(token.hasChecksum || row.unchecked)) return false
    if (!(await verify(token, row.hash))) return false
    lastUses.record(row.id)
    return true
  }

  return {
    present: parsePresentedToken,
    matches,

    /**
     * Returns the owner and the id of the token. Throws 401 if the token is not valid, and 429 after too many
     * wrong tokens.
     */
    authenticate: async (text: string): Promise<{ user: TokenLogin['user']; tokenId: string }> => {
      const token = await parsePresentedToken(text)
      const login = token === null ? null : await findLogin(token.prefix)
      const isValid = token !== null && login !== null && (await matches(token, login))
      metrics.auth.inc({ kind: 'pat', outcome: isValid ? 'ok' : 'refused' })
      if (!isValid)
        throw new AppError(
          'unauthenticated',
          'invalid personal access token: it is unknown, expired or revoked; create a new one',
        )
      return { user: login.user, tokenId: login.id }
    },
  }
}
