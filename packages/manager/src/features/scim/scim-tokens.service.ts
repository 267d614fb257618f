// Creates, lists and revokes the tokens of identity providers. A token is returned once and is stored only as a hash.
import { type KeyObject, randomBytes } from 'node:crypto'
import type { Actor } from '../../policy/actor.ts'
import { recheckSystemPermission } from '../../policy/recheck.ts'
import { type RefWithRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Clock } from '../../platform/clock.ts'
import { badRequest, conflict, orNotFound } from '../../platform/errors.ts'
import { newId, parseUuid } from '../../platform/ids.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { checkName } from '../../platform/inputs/inputs.ts'
import { parseTimestamp } from '../../platform/inputs/timestamps.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import type { Db } from '../../platform/postgres/handles.ts'
import { buildScimToken, scimTokenBytes } from './scim-token.pure.ts'
import * as store from './scim-tokens.store.ts'

export type ScimTokensDeps = { db: Db; audit: Audit; clock: Clock; checkKey: KeyObject }
export type ScimTokensService = ReturnType<typeof createScimTokensService>

const [defaultDays, maxDays] = [365, 1_095]
const dayMs = 86_400_000
const maxUsableTokens = 100

const event = createEventBuilder<store.ScimToken>({
  type: 'scimToken',
  classes: {
    id: 'public',
    name: 'public',
    tokenPrefix: 'public',
    creatorId: 'public',
    expiresAt: 'public',
    lastUsedAt: 'ignored',
    revokedAt: 'public',
    createdAt: 'ignored',
  },
  nameOf: (token) => `${token.name} (${token.tokenPrefix})`,
  projectOf: () => null,
})

export function createScimTokensService({ db, audit, clock, checkKey }: ScimTokensDeps) {
  return {
    list: (args: ListArgs): Promise<store.ScimToken[]> =>
      store.listTokens(db.read, readPage(store.scimTokenFields, args)),

    /** Returns the new token and its row. The token itself is not stored. */
    create: async (actor: Actor, name: string, expiresAt: string | null) => {
      const values = checkFields({
        name: () => checkName(name),
        expiresAt: () => readExpiry(expiresAt, clock.now().getTime()),
      })
      const { token, ...stored } = buildScimToken(randomBytes(scimTokenBytes), checkKey)
      const scimToken = await db.transaction(async (tx) => {
        await recheckSystemPermission(tx, actor, 'SCIM_TOKEN_WRITE')
        if ((await store.countUsableTokens(tx, maxUsableTokens)) >= maxUsableTokens)
          throw conflict(`at most ${maxUsableTokens} SCIM tokens can be usable; revoke one first`)
        const after = await store.insertToken(tx, {
          id: newId(),
          creatorId: actor.user.id,
          ...stored,
          ...values,
        })
        await audit.append(tx, actor, event('create', { before: null, after }))
        return after
      })
      return { token, scimToken }
    },

    /** Revokes a token. If the token is already revoked, nothing changes. */
    revoke: (actor: Actor, { id, expectedRevision }: RefWithRevision): Promise<store.ScimToken> =>
      db.transaction(async (tx) => {
        await recheckSystemPermission(tx, actor, 'SCIM_TOKEN_WRITE')
        const tokenId = orNotFound(parseUuid(id), 'SCIM token')
        const before = orNotFound(await store.lockToken(tx, tokenId), 'SCIM token')
        await checkRevision(tx, actor, before, expectedRevision)
        if (before.revokedAt !== null) return before
        const after = await store.revokeToken(tx, tokenId)
        await audit.append(tx, actor, event('revoke', { before, after }))
        return after
      }),
  }
}

function readExpiry(text: string | null, now: number): string {
  if (text === null) return new Date(now + defaultDays * dayMs).toISOString()
  const instant = parseTimestamp(text)
  if (instant === null)
    throw badRequest('expiresAt must be an RFC 3339 timestamp such as 2027-01-31T12:00:00Z')
  const time = instant.getTime()
  if (time <= now || time > now + maxDays * dayMs)
    throw badRequest(`expiresAt must be in the future, and at most ${maxDays} days from now`)
  return instant.toISOString()
}
