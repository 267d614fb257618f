import { sql } from 'kysely'
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import { type Reads, type Tx, anyOf, withPreparedStatements } from '../../platform/postgres/handles.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import { createVersionSql } from '../../platform/postgres/project-version.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPage } from '../../platform/lists/page.ts'
import { getPageHandle } from '../../platform/lists/prepared-pages.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

export type MachineUser = RevisionFields & {
  id: string
  projectId: string
  environmentId: string
  name: string
  username: string
  enabled: boolean
  /** Null for a Basic machine user. */
  tokenPrefix: string | null
  lastRotatedAt: string | null
  createdAt: string
}

/** The stored form of a credential, which never contains the credential itself. */
export type StoredCredential =
  { username: string; tokenPrefix: string; tokenHash: Buffer } | { username: string; passwordHash: string }

const columns = [
  'id',
  'projectId',
  'environmentId',
  'name',
  'username',
  'enabled',
  'tokenPrefix',
  'lastRotatedAt',
  'createdAt',
  ...revisionColumns,
] as const

export const machineUserFields: ListFields = {
  id: { column: 'id', match: 'id' },
  environmentId: { column: 'environmentId', match: 'id' },
  name: { column: 'name', match: 'text' },
  username: { column: 'username', match: 'text' },
  enabled: { column: 'enabled', match: 'boolean' },
  lastRotatedAt: { column: 'lastRotatedAt', match: 'time', isNullable: true },
  createdAt: { column: 'createdAt', match: 'time' },
}

/** Returns a page of the machine users of an environment, or of all environments of a project. */
export function listMachineUsers(
  db: Reads,
  of: { environmentId: string } | { projectId: string },
  page: Page,
): Promise<MachineUser[]> {
  const where =
    'projectId' in of
      ? sql<boolean>`machine_users.project_id = ${of.projectId}`
      : sql<boolean>`machine_users.environment_id = ${of.environmentId}`
  return fetchPage(getPageHandle(db, page, ['id']), { table: 'machineUsers', columns, page, where })
}

/** Returns a page of the enabled machine users whose credential is more than `days` days old. */
export function listMachineUsersToRotate(
  db: Reads,
  projectId: string,
  days: number,
  page: Page,
): Promise<MachineUser[]> {
  // An index contains the same expression.
  const where = sql<boolean>`machine_users.project_id = ${projectId} and machine_users.enabled
    and coalesce(machine_users.last_rotated_at, machine_users.created_at) < now() - make_interval(days => ${days}::int)`
  return fetchPage(db, { table: 'machineUsers', columns, page, where })
}

/** Returns when these machine users were last used, keyed by id. Omits machine users that were never used. */
export async function findLastUses(db: Reads, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('machineUserActivity')
    .select(['machineUserId', 'lastActiveAt'])
    .where('machineUserId', 'in', ids)
    .execute()
  return new Map(rows.map(({ machineUserId, lastActiveAt }) => [machineUserId, lastActiveAt]))
}

export function findMachineUser(db: Reads, id: string): Promise<MachineUser | undefined> {
  return withPreparedStatements(db)
    .selectFrom('machineUsers')
    .select(columns)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Returns the machine users with these ids, in any order. */
export function findMachineUsers(db: Reads, ids: readonly string[]): Promise<MachineUser[]> {
  return withPreparedStatements(db)
    .selectFrom('machineUsers')
    .select(columns)
    .where('id', '=', anyOf(ids))
    .execute()
}

/** Returns a machine user and locks its row until the transaction ends. */
export function lockMachineUser(tx: Tx, id: string): Promise<MachineUser | undefined> {
  return tx.selectFrom('machineUsers').select(columns).where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function findProjectOfEnvironment(tx: Tx, environmentId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('environments')
    .select('projectId')
    .where('id', '=', environmentId)
    .executeTakeFirst()
  return row?.projectId
}

/**
 * Inserts a machine user with the project of its environment. Returns undefined if the environment no longer exists.
 */
export function insertMachineUser(
  tx: Tx,
  values: { id: string; environmentId: string; name: string; enabled: boolean } & StoredCredential,
): Promise<MachineUser | undefined> {
  const token = 'tokenHash' in values ? values : null
  const password = 'passwordHash' in values ? values.passwordHash : null
  return tx
    .insertInto('machineUsers')
    .columns([
      ...(['id', 'projectId', 'environmentId', 'name', 'username', 'enabled'] as const),
      ...(['tokenPrefix', 'tokenHash', 'passwordHash'] as const),
    ])
    .expression((eb) =>
      eb
        .selectFrom('environments')
        .select([sql<string>`${values.id}::uuid`.as('id'), 'projectId', 'id as environmentId'])
        .select([sql<string>`${values.name}::text`.as('name')])
        .select([sql<string>`${values.username}::text`.as('username')])
        .select([sql<boolean>`${values.enabled}::boolean`.as('enabled')])
        .select([sql<string | null>`${token?.tokenPrefix ?? null}::text`.as('tokenPrefix')])
        .select([sql<Buffer | null>`${token?.tokenHash ?? null}::bytea`.as('tokenHash')])
        .select([sql<string | null>`${password}::text`.as('passwordHash')])
        .where('id', '=', values.environmentId),
    )
    .returning(columns)
    .executeTakeFirst()
}

export function replaceCredential(
  tx: Tx,
  id: string,
  credential: StoredCredential,
  rotatedAt: string,
): Promise<MachineUser> {
  return tx
    .updateTable('machineUsers')
    .set({ ...credential, lastRotatedAt: rotatedAt, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export function updateMachineUser(
  tx: Tx,
  id: string,
  values: { name: string; enabled: boolean },
): Promise<MachineUser> {
  return tx
    .updateTable('machineUsers')
    .set({ ...values, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteMachineUser(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('machineUsers').where('id', '=', id).execute()
}

/** An enabled machine user, identified by its token. */
export type Machine = {
  id: string
  name: string
  username: string
  environmentId: string
  projectId: string
  /**
   * The version of the project's endpoints, read together with the row. Cache entries of a different version
   * are stale.
   */
  endpointsVersion: string
}

// The statement costs two index lookups per token, regardless of the number of machine users.
const findByTokenStatement: PreparedStatement = {
  name: 'machine-users-by-token',
  kind: 'read',
  text: `
    select wanted.position::int, m.id, m.name, m.username,
      m.environment_id as "environmentId", m.project_id as "projectId",
      ${createVersionSql('m.project_id', 'endpoints')} as "endpointsVersion"
    from unnest($1::bytea[]) with ordinality as wanted (token_hash, position)
    cross join lateral (
      select id, name, username, environment_id, project_id
      from machine_users where machine_users.token_hash = wanted.token_hash and enabled limit 1
    ) m`,
}

/** Returns the enabled machine users in the order of the token hashes; null for an unknown hash. */
export async function readMachines(
  run: RunPrepared,
  tokenHashes: readonly Buffer[],
): Promise<(Machine | null)[]> {
  const rows = await run<Machine & { position: number }>(findByTokenStatement, [tokenHashes])
  return orderByPosition<Machine>(tokenHashes.length, rows)
}
