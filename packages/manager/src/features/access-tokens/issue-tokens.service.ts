// This service issues personal access tokens and revokes them on behalf of the system. The token itself is not stored.
import { type KeyObject, randomInt } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
import { recheckCredential } from '../../policy/recheck.ts'
import { type Audit, type AuditEvent } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Kdf } from '../../platform/credentials/kdf.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import { newId } from '../../platform/ids.ts'
import * as store from './access-tokens.store.ts'
import { buildToken, randomLength, createRandomText } from './token.pure.ts'

export type TokenIssuer = ReturnType<typeof createTokenIssuer>

export const createTokenEvent = createEventBuilder<store.PersonalAccessToken>({
  type: 'personalAccessToken',
  classes: {
    id: 'public',
    userId: 'public',
    name: 'public',
    tokenPrefix: 'public',
    expiresAt: 'public',
    revoked: 'public',
    lastUsedAt: 'ignored',
    createdAt: 'ignored',
  },
  nameOf: (token) => `${token.name} (${token.tokenPrefix})`,
  projectOf: () => null,
})

/** Issues and revokes tokens inside the caller's transaction. */
export function createTokenIssuer({ kdf, audit, checkKey }: { kdf: Kdf; audit: Audit; checkKey: KeyObject }) {
  return {
    /**
     * Creates a token for the caller. The token becomes valid when `insert` writes its row. Call this before
     * the transaction: hashing is slow, and a transaction holds a connection.
     */
    prepare: async (actor: Actor) => {
      const userId = actor.user.id
      const tokenPrefix = createRandomText(randomLength.prefix, randomInt)
      const token = buildToken(tokenPrefix, createRandomText(randomLength.secret, randomInt), checkKey)
      const hash = await kdf.hash(token, userId)
      /** Inserts the token. Appends its audit event, then the events that `createEvents` returns. */
      const insert = async (
        tx: Tx,
        values: { name: string; expiresAt: string | null },
        createEvents: (token: store.PersonalAccessToken) => Promise<AuditEvent[]> = async () => [],
      ): Promise<store.PersonalAccessToken> => {
        await recheckCredential(tx, actor)
        const after = await store.insertToken(tx, { id: newId(), userId, tokenPrefix, hash, ...values })
        await audit.append(
          tx,
          actor,
          createTokenEvent('create', { before: null, after }),
          ...(await createEvents(after)),
        )
        return after
      }
      return { token, insert }
    },

    /** Revokes a token. Returns the audit event, or null if the token does not exist or is already revoked. */
    revoke: async (tx: Tx, id: string): Promise<AuditEvent | null> => {
      const before = await store.lockToken(tx, id, null)
      if (before === undefined || before.revoked) return null
      return createTokenEvent('revoke', { before, after: await store.revokeToken(tx, id) })
    },
  }
}
