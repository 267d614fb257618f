// Identifies an identity provider by its SCIM token. Every request reads the row, coalesced with concurrent requests, so a
// revoked or expired token is rejected immediately by all processes.
import type { KeyObject } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import { parseAuthorization } from '../../platform/credentials/authorization.ts'
import { AppError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { createCoalescer } from '../../platform/postgres/coalesce.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import type { ScimClient } from '../../policy/authenticate.ts'
import { invalidToken } from './scim-errors.pure.ts'
import { parseScimToken } from './scim-token.pure.ts'
import { type UsableToken, readUsableTokens, writeLastUse } from './scim-tokens.store.ts'

export type ScimLoginDeps = {
  db: Db
  database: Pick<Database, 'run'>
  clock: Clock
  log: Logger
  metrics: Metrics
  /** The current key of token checks, and the previous ones. */
  checkKeys: readonly KeyObject[]
}
export type ScimLoginService = ReturnType<typeof createScimLoginService>

const minWriteGapMs = 30_000

export function createScimLoginService(deps: ScimLoginDeps) {
  const { database, metrics, checkKeys } = deps
  const lastUses = createLastUses(deps)
  const findToken = createCoalescer<Buffer, UsableToken>({
    getKey: (hash) => hash.toString('base64'),
    run: (hashes) => readUsableTokens(database.run, hashes),
  })
  return {
    /** Returns the token of an Authorization header; throws 401. `header` is null if the header is absent. */
    authenticate: async (header: string | null): Promise<ScimClient> => {
      const authorization = header === null ? null : parseAuthorization(header)
      const hash = authorization?.scheme === 'bearer' ? parseScimToken(authorization.value, checkKeys) : null
      const token = hash === null ? null : await findToken(hash)
      metrics.auth.inc({ kind: 'scim', outcome: token === null ? 'refused' : 'ok' })
      if (token === null)
        throw header === null
          ? new AppError('unauthenticated', 'missing Authorization header; expected: Bearer <SCIM token>')
          : invalidToken()
      lastUses.record(token.id)
      return { tokenId: token.id, tokenName: token.name }
    },
    close: lastUses.close,
  }
}

/** Writes the last use of a token at most every 30 s. A killed process loses only the latest use. */
function createLastUses({ db, clock, log }: Pick<ScimLoginDeps, 'db' | 'clock' | 'log'>) {
  const nextWrites = new Map<string, number>()
  const pending = new Set<Promise<void>>()
  const write = async (tokenId: string): Promise<void> => {
    try {
      await writeLastUse(db.idempotent, tokenId, clock.now().toISOString())
    } catch (error) {
      log.warn({ err: error }, 'could not store the last use of a SCIM token; the next use is stored instead')
    }
  }
  return {
    record: (tokenId: string): void => {
      const now = performance.now()
      if (now < (nextWrites.get(tokenId) ?? 0)) return
      nextWrites.set(tokenId, now + minWriteGapMs)
      const running = write(tokenId)
      pending.add(running)
      void running.finally(() => pending.delete(running))
    },
    close: async (): Promise<void> => {
      await Promise.all(pending)
    },
  }
}
