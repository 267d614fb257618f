import { type RawBuilder, sql } from 'kysely'
import {
  type Queries,
  type Reads,
  type Tx,
  anyOf,
  withPreparedStatements,
} from '../../platform/postgres/handles.ts'
import type { Lookup } from '../../platform/postgres/lookups.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPage } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'
import type { Deactivations } from './lifecycle.pure.ts'

type Lifecycle = Deactivations & {
  /** Whether an identity provider manages the name and the e-mail address over SCIM. */
  isProvisioned: boolean
}
export type User = RevisionFields &
  Lifecycle & {
    id: string
    externalName: string
    externalUsername: string
    externalEmail: string
    role: string
  }

/** A user whose revision and lifecycle may not have been read yet. */
export type KnownUser = Omit<User, keyof (RevisionFields & Lifecycle)> & Partial<RevisionFields & Lifecycle>

/** Every column of a user. */
export const columns = [
  'id',
  'externalName',
  'externalUsername',
  'externalEmail',
  'role',
  'isProvisioned',
  'deactivatedByScimAt',
  'deactivatedByAdministratorAt',
  ...revisionColumns,
] as const

export const userFields: ListFields = {
  id: { column: 'id', match: 'id' },
  externalName: { column: 'externalName', match: 'text' },
  externalUsername: { column: 'externalUsername', match: 'text' },
  externalEmail: { column: 'externalEmail', match: 'text' },
  role: { column: 'role', match: 'exact' },
}

/** Returns a page of users; with `sharedWith`, only that user and users who share a project with them. */
export function listUsers(db: Reads, page: Page, sharedWith: string | null): Promise<User[]> {
  const where =
    sharedWith === null
      ? undefined
      : // With an array, PostgreSQL first computes the set and then looks up the users by key.
        sql<boolean>`users.id = any(array(
          select ${sharedWith}::uuid union
          select theirs.user_id from user2projects mine
          join user2projects theirs on theirs.project_id = mine.project_id where mine.user_id = ${sharedWith}))`
  return fetchPage(db, { table: 'users', columns, page, where })
}

/** Returns a user. With `sharedWith`, returns only that user, or a user who shares a project with them. */
export function findVisibleUser(db: Reads, id: string, sharedWith: string | null): Promise<User | undefined> {
  const isVisible = sql<boolean>`(users.id = ${sharedWith} or exists (
    select from user2projects mine join user2projects theirs on theirs.project_id = mine.project_id
    where mine.user_id = ${sharedWith} and theirs.user_id = ${id}))`
  return db
    .selectFrom('users')
    .select(columns)
    .where('id', '=', id)
    .$if(sharedWith !== null, (query) => query.where(isVisible))
    .executeTakeFirst()
}

/** Finds the user of a request by id. */
export const userLookup: Lookup<User> = {
  name: 'users-by-id',
  kind: 'read',
  text: `
    select wanted.position::int, found.* from unnest($1::uuid[]) with ordinality as wanted (id, position)
    cross join lateral (
      select users.id, external_name as "externalName", external_username as "externalUsername",
        external_email as "externalEmail", role, is_provisioned as "isProvisioned",
        deactivated_by_scim_at as "deactivatedByScimAt",
        deactivated_by_administrator_at as "deactivatedByAdministratorAt", revision, updated_at as "updatedAt"
      from users where users.id = wanted.id limit 1
    ) found`,
}

/** Returns the users with these ids, in any order. */
export function findUsers(db: Reads, ids: readonly string[]): Promise<User[]> {
  return withPreparedStatements(db).selectFrom('users').select(columns).where('id', '=', anyOf(ids)).execute()
}

/**
 * Returns these users and locks their rows until the transaction ends. The fixed order prevents deadlocks. The lock
 * does not block writes to rows that only reference the users.
 */
export function lockUsers(tx: Tx, ids: readonly string[]): Promise<User[]> {
  return tx
    .selectFrom('users')
    .select(columns)
    .where('id', 'in', ids)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
}

/** Returns this user and all administrators, locked as in `lockUsers`. */
export function lockUserAndAdministrators(tx: Tx, id: string): Promise<User[]> {
  return tx
    .selectFrom('users')
    .select(columns)
    .where((eb) => eb.or([eb('id', '=', id), eb('role', '=', 'administrator')]))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
}

export type Administrator = User & {
  /** The time of the grant from the audit trail; null if the trail has no such row. */
  since: string | null
}

/** Returns administrators ordered by id, with their latest grant in this audit chain. */
export async function listAdministrators(
  db: Reads,
  chainId: string,
  limit: number,
): Promise<Administrator[]> {
  return db
    .selectFrom('users')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('auditLogs')
          .select('auditLogs.createdAt as since')
          .where('auditLogs.chainId', '=', chainId)
          .whereRef('auditLogs.entityId', '=', sql`users.id::text`)
          .where(sql<boolean>`audit_logs.changes #>> '{role,after}' = 'administrator'`)
          .orderBy('auditLogs.seq', 'desc')
          .limit(1)
          .as('granted'),
      (join) => join.onTrue(),
    )
    .select([...columns, 'granted.since'])
    .where('role', '=', 'administrator')
    .orderBy('id')
    .limit(limit)
    .execute()
}

/**
 * Inserts the user, or updates name and e-mail. Null values leave the stored values unchanged, and so do all values if an
 * identity provider manages them over SCIM. A single statement keeps concurrent calls safe.
 */
export function upsertUser(
  db: Queries,
  user: { id: string; email: string | null; name: string | null; username: string },
): Promise<User> {
  return db
    .insertInto('users')
    .values({
      id: user.id,
      externalName: user.name ?? '',
      externalEmail: user.email ?? '',
      externalUsername: user.username,
    })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({
        ...(user.name === null ? {} : { externalName: keepProvisioned('external_name', user.name) }),
        ...(user.email === null
          ? {}
          : {
              externalEmail: keepProvisioned('external_email', user.email),
              externalUsername: keepProvisioned('external_username', user.username),
            }),
        updatedAt: sql`now()`,
      }),
    )
    .returning(columns)
    .executeTakeFirstOrThrow()
}

const keepProvisioned = (column: string, value: string): RawBuilder<string> =>
  sql<string>`case when users.is_provisioned then ${sql.ref(`users.${column}`)} else ${value}::text end`

/** Inserts the user, or does nothing if the user exists. */
export async function insertUser(
  tx: Tx,
  user: Omit<KnownUser, 'role' | keyof (RevisionFields & Lifecycle)>,
): Promise<void> {
  await tx
    .insertInto('users')
    .values(user)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

/**
 * Returns at most two users with this e-mail address, ignoring case. Two users mean that the address is
 * ambiguous.
 */
export function findUsersByEmail(db: Reads, email: string): Promise<User[]> {
  // The trigram index serves ILIKE without wildcards; a plain lower() comparison would read the whole table.
  return db
    .selectFrom('users')
    .select(columns)
    .where('externalEmail', 'ilike', email.replace(/[\\%_]/g, '\\$&'))
    .limit(2)
    .execute()
}

export function setSystemRole(tx: Tx, id: string, role: string): Promise<User> {
  return tx
    .updateTable('users')
    .set({ role, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}
