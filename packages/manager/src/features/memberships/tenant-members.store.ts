import { sql } from 'kysely'
import type { Db, Tx } from '../../platform/db/database.ts'
import { newId } from '../../platform/ids.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { pagesOf } from '../../platform/lists/page.ts'

export type TenantMember = {
  id: string
  projectId: string
  tenantId: string
  userId: string
  roleName: string
}

const columns = ['id', 'projectId', 'tenantId', 'userId', 'roleName'] as const

export const tenantMemberFields: ListFields = {
  id: { column: 'id', match: 'id' },
  userId: { column: 'userId', match: 'id' },
  roleName: { column: 'roleName', match: 'exact' },
}

export function listTenantMembers(db: Db, tenantId: string, page: Page): Promise<TenantMember[]> {
  return pagesOf(db, { table: 'user2tenants', columns, page, parent: 'tenantId', parentIds: [tenantId] })
}

/** One membership by id, in any tenant. */
export function findTenantMember(db: Db | Tx, id: string): Promise<TenantMember | undefined> {
  return db.selectFrom('user2tenants').select(columns).where('id', '=', id).executeTakeFirst()
}

export async function countOwners(tx: Tx, tenantId: string): Promise<number> {
  const row = await tx
    .selectFrom('user2tenants')
    .select((eb) => eb.fn.countAll<string>().as('owners'))
    .where('tenantId', '=', tenantId)
    .where('roleName', '=', 'owner')
    .executeTakeFirstOrThrow()
  return Number(row.owners)
}

/** Adds the member; the row's project is the tenant's. Nothing comes back when there is no such tenant. */
export function insertTenantMember(
  tx: Tx,
  values: { tenantId: string; userId: string; roleName: string },
): Promise<TenantMember | undefined> {
  return tx
    .insertInto('user2tenants')
    .columns(['id', 'projectId', 'tenantId', 'userId', 'roleName'])
    .expression((eb) =>
      eb
        .selectFrom('tenants')
        .select([sql<string>`${newId()}::uuid`.as('id'), 'projectId', 'id as tenantId'])
        .select([
          sql<string>`${values.userId}::uuid`.as('userId'),
          sql<string>`${values.roleName}`.as('roleName'),
        ])
        .where('id', '=', values.tenantId),
    )
    .returning(columns)
    .executeTakeFirst()
}

export function setTenantRole(tx: Tx, id: string, roleName: string): Promise<TenantMember> {
  return tx
    .updateTable('user2tenants')
    .set({ roleName, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteTenantMember(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('user2tenants').where('id', '=', id).execute()
}
