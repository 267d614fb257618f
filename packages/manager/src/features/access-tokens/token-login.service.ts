// Who a presented personal access token belongs to. Every call reads the row, coalesced with other calls in flight,
// so a revoked or expired token is refused at once on every replica; only the result of the slow hash is cached.
import type { KeyObject } from 'node:crypto'
import type { Database } from '../../platform/postgres/database.ts'
import { createCoalesced } from '../../platform/postgres/coalesce.ts'
import type { PresentedSecret, Verifier } from '../../platform/credentials/verifier.ts'
import { AppError, rateLimited } from '../../platform/errors.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Throttle } from '../../platform/throttle/throttle.ts'
import type { LastUses } from './last-uses.service.ts'
import { type TokenLogin, readTokenLogins } from './access-tokens.store.ts'
import { hasRightCheck, tokenPrefix } from './token.pure.ts'
import { createTurns, createUncheckedTokens } from './unchecked-tokens.service.ts'

export type PresentedToken = {
  prefix: string
  secret: PresentedSecret
  /** It ends in our check, or has fitted before. Others can only be of an old install. */
  isChecked: boolean
}
export type TokenLoginService = ReturnType<typeof createTokenLoginService>

export type TokenLoginDeps = {
  database: Pick<Database, 'run'>
  verifier: Verifier
  metrics: Metrics
  checkKey: KeyObject
  /** Of former master keys: tokens they issued are still valid. */
  retiredCheckKeys: readonly KeyObject[]
  lastUses: LastUses
  /** Wrong tokens that were hashed, by prefix: those with a correct check, and those for a token of an old install. */
  forgeries: Throttle
}

/** Authentication by personal access token. */
export function createTokenLoginService(deps: TokenLoginDeps) {
  const { database, verifier, metrics, lastUses, forgeries } = deps
  const checkKeys = [deps.checkKey, ...deps.retiredCheckKeys]
  const hasUnchecked = createUncheckedTokens(database)
  const inTurn = createTurns<boolean>()
  const findLogin = createCoalesced<string, TokenLogin>({
    keyOf: (prefix) => prefix,
    run: (prefixes) => readTokenLogins(database.run, prefixes),
  })

  /** The token's prefix, or null when it cannot be of this installation. Costs an HMAC when known, two when not. */
  const present = async (text: string): Promise<PresentedToken | null> => {
    const prefix = tokenPrefix(text)
    if (prefix === null) return null
    const secret = verifier.present(text)
    const isChecked = verifier.isKnown(secret) || hasRightCheck(text, checkKeys)
    return isChecked || (await hasUnchecked()) ? { prefix, secret, isChecked } : null
  }

  const tryHash = async ({ prefix, secret }: PresentedToken, hash: string, blockedMs: number) => {
    if (blockedMs > 0 && !verifier.isKnown(secret))
      throw rateLimited('too many wrong tokens with this prefix; try again later', blockedMs)
    const isRight = await verifier.verify(secret, hash, { lane: 'token', owner: prefix })
    if (!isRight) await forgeries.fail(prefix)
    return isRight
  }
  /** Whether the hash is this token's. Wrong ones with a correct check need our own key; others take turns. */
  const verify = (token: PresentedToken, hash: string): Promise<boolean> => {
    const { prefix, secret, isChecked } = token
    if (isChecked) return tryHash(token, hash, forgeries.knownBlockMs(prefix))
    return inTurn(prefix, secret.fingerprint, async () =>
      tryHash(token, hash, await forgeries.blockedMs(prefix)),
    )
  }

  /** True when the row is usable and its hash is this token's; notes the use. */
  const fits = async (
    token: PresentedToken,
    row: Pick<TokenLogin, 'id' | 'hash' | 'usable' | 'unchecked'>,
  ): Promise<boolean> => {
    if (!row.usable || !(token.isChecked || row.unchecked)) return false
    if (!(await verify(token, row.hash))) return false
    lastUses.note(row.id)
    return true
  }

  return {
    present,
    fits,

    /** The owner of the token, and its id; throws 401 when it is not valid, 429 when it was tried too often to be hashed. */
    authenticate: async (text: string): Promise<{ user: TokenLogin['user']; tokenId: string }> => {
      const token = await present(text)
      const login = token === null ? null : await findLogin(token.prefix)
      const holds = token !== null && login !== null && (await fits(token, login))
      metrics.auth.inc({ kind: 'pat', outcome: holds ? 'ok' : 'refused' })
      if (!holds)
        throw new AppError(
          'unauthenticated',
          'invalid personal access token: it is unknown, expired or revoked; create a new one',
        )
      return { user: login.user, tokenId: login.id }
    },
  }
}
