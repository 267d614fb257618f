import { sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import { newId } from '../../platform/ids.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPage } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

/** The machine user may call the endpoint while the row is enabled. */
export type EndpointAccess = RevisionFields & {
  id: string
  projectId: string
  machineUserId: string
  endpointId: string
  enabled: boolean
}

const columns = ['id', 'projectId', 'machineUserId', 'endpointId', 'enabled', ...revisionColumns] as const

export const endpointAccessFields: ListFields = {
  id: { column: 'id', match: 'id' },
  machineUserId: { column: 'machineUserId', match: 'id' },
  enabled: { column: 'enabled', match: 'boolean' },
}

/** Returns a page of the access rows of an endpoint. */
export function listEndpointAccess(db: Reads, endpointId: string, page: Page): Promise<EndpointAccess[]> {
  const where = sql<boolean>`machine_user2endpoints.endpoint_id = ${endpointId}`
  return fetchPage(db, { table: 'machineUser2endpoints', columns, page, where })
}

/** Returns one access row of the endpoint, or undefined. */
export function findEndpointAccess(
  db: Reads,
  endpointId: string,
  id: string,
): Promise<EndpointAccess | undefined> {
  return db
    .selectFrom('machineUser2endpoints')
    .select(columns)
    .where('endpointId', '=', endpointId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Returns one row and locks it until the transaction ends. */
export function lockEndpointAccess(tx: Tx, id: string): Promise<EndpointAccess | undefined> {
  return tx
    .selectFrom('machineUser2endpoints')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** Inserts a row with the project of the endpoint. The database rejects machine users of other projects. */
export function insertEndpointAccess(
  tx: Tx,
  values: { machineUserId: string; endpointId: string; enabled: boolean },
): Promise<EndpointAccess | undefined> {
  return tx
    .insertInto('machineUser2endpoints')
    .columns(['id', 'projectId', 'endpointId', 'machineUserId', 'enabled'])
    .expression((eb) =>
      eb
        .selectFrom('endpoints')
        .select([sql<string>`${newId()}::uuid`.as('id'), 'projectId', 'id as endpointId'])
        .select([sql<string>`${values.machineUserId}::uuid`.as('machineUserId')])
        .select([sql<boolean>`${values.enabled}::boolean`.as('enabled')])
        .where('id', '=', values.endpointId),
    )
    .returning(columns)
    .executeTakeFirst()
}

export function setEnabled(tx: Tx, id: string, enabled: boolean): Promise<EndpointAccess> {
  return tx
    .updateTable('machineUser2endpoints')
    .set({ enabled, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteEndpointAccess(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('machineUser2endpoints').where('id', '=', id).execute()
}
