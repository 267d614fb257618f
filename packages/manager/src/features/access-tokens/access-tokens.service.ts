import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import type { Audit } from '../../platform/audit/append.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, notFound, orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { decodeCursor, encodeCursor } from '../../platform/lists/cursor.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import { parseTimestamp } from '../../platform/inputs/timestamps.ts'
import { checkFields } from '../../platform/inputs/fields.ts'
import { checkName } from '../../platform/inputs/inputs.ts'
import * as store from './access-tokens.store.ts'
import { type TokenIssuer, createTokenEvent } from './issue-tokens.service.ts'

export type AccessTokensDeps = { db: Db; clock: Clock; issue: TokenIssuer; audit: Audit }
export type AccessTokensService = ReturnType<typeof createAccessTokensService>
/** A page in the shape of a GraphQL connection. The total is counted only when the client requests it. */
export type TokenConnection = {
  edges: { node: store.PersonalAccessToken; cursor: string }[]
  nodes: store.PersonalAccessToken[]
  pageInfo: {
    hasNextPage: boolean
    hasPreviousPage: boolean
    startCursor: string | null
    endCursor: string | null
  }
  totalCount: () => Promise<number>
  isTotalExact: true
}

const maxPageSize = 100
const [defaultExpiryDays, maxExpiryDays] = [14, 365]

/**
 * Creates the service for token management. Users manage their own personal access tokens, and administrators
 * manage the tokens of all users.
 */
export function createAccessTokensService({ db, audit, clock, issue }: AccessTokensDeps) {
  return {
    list: (actor: Actor, args: ListArgs): Promise<store.PersonalAccessToken[]> =>
      store.listUserTokens(db.read, actor.user.id, readPage(store.accessTokenFields, args)),

    listExpiring: (
      actor: Actor,
      days: number | null | undefined,
      args: ListArgs,
    ): Promise<store.PersonalAccessToken[]> => listExpiring(db, actor, days ?? defaultExpiryDays, args),

    page: (actor: Actor, first: number, cursor: string): Promise<TokenConnection> =>
      readPageOfTokens(db, getVisibleOwner(actor), { first, cursor }),

    /** Returns the new token and its row. The token itself is not stored. */
    create: async (actor: Actor, name: string, expiresAt: string | null) => {
      const values = checkFields({
        name: () => checkName(name),
        expiresAt: () => parseExpiry(expiresAt, clock),
      })
      const { token, insert } = await issue.prepare(actor)
      const personalAccessToken = await db.transaction((tx) => insert(tx, values))
      return { token, personalAccessToken }
    },

    /** Revokes a token. If the token is already revoked, nothing changes. */
    revoke: (
      actor: Actor,
      id: string,
      expectedRevision: ExpectedRevision,
    ): Promise<store.PersonalAccessToken> =>
      db.transaction(async (tx) => {
        const before = await lockVisibleToken(tx, actor, id)
        await checkRevision(tx, actor, before, expectedRevision)
        if (before.revoked) return before
        const after = await store.revokeToken(tx, before.id)
        await audit.append(tx, actor, createTokenEvent('revoke', { before, after }))
        return after
      }),

    delete: (actor: Actor, id: string, expectedRevision: ExpectedRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const before = await lockVisibleToken(tx, actor, id)
        await checkRevision(tx, actor, before, expectedRevision)
        await store.deleteToken(tx, before.id)
        await audit.append(tx, actor, createTokenEvent('delete', { before, after: null }))
        return true as const
      }),
  }
}

/** Returns the usable tokens that expire within `days` days, by expiry unless the arguments specify an order. */
function listExpiring(
  db: Db,
  actor: Actor,
  days: number,
  args: ListArgs,
): Promise<store.PersonalAccessToken[]> {
  const order =
    (args.order?.length ?? 0) > 0 ? args.order : [{ field: 'expiresAt', direction: 'ASC' as const }]
  const page = readPage(store.accessTokenFields, { ...args, order })
  if (days < 1 || days > maxExpiryDays) throw badRequest(`days must be from 1 to ${maxExpiryDays}`)
  return store.listExpiringTokens(db.read, getVisibleOwner(actor), days, page)
}

/** Returns the owner whose tokens the caller may see and revoke, or null for all owners. */
const getVisibleOwner = (actor: Actor): string | null => (actor.isAdministrator ? null : actor.user.id)

async function lockVisibleToken(tx: Tx, actor: Actor, id: string): Promise<store.PersonalAccessToken> {
  const tokenId = parseUuid(id)
  if (tokenId === null) throw notFound('personal access token')
  return orNotFound(await store.lockToken(tx, tokenId, getVisibleOwner(actor)), 'personal access token')
}

function parseExpiry(text: string | null, clock: Clock): string | null {
  if (text === null) return null
  const instant = parseTimestamp(text)
  if (instant === null)
    throw badRequest('expiresAt must be an RFC 3339 timestamp such as 2027-01-31T12:00:00Z')
  if (instant.getTime() <= clock.now().getTime()) throw badRequest('expiresAt must be in the future')
  return instant.toISOString()
}

/** Returns the `first` tokens after `cursor`, newest first. An empty cursor starts at the newest token. */
async function readPageOfTokens(
  db: Db,
  owner: string | null,
  { first, cursor }: { first: number; cursor: string },
): Promise<TokenConnection> {
  const { after } = checkFields({
    after: () => (cursor === '' ? null : decodeCursor(cursor)),
    first: () => {
      if (first < 1 || first > maxPageSize) throw badRequest(`first must be from 1 to ${maxPageSize}`)
    },
  })
  const tokens = await store.listTokensBefore(db.read, owner, after, first + 1)
  const edges = tokens.slice(0, first).map((node) => ({ node, cursor: encodeCursor(node.id) }))
  return {
    edges,
    nodes: edges.map(({ node }) => node),
    pageInfo: {
      hasNextPage: tokens.length > first,
      hasPreviousPage: after !== null && (await store.hasTokenAtOrAfter(db.read, owner, after)),
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: () => store.countTokens(db.read, owner),
    isTotalExact: true,
  }
}
