import { sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import { newId } from '../../platform/ids.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { type Revised, revisionColumns } from '../../platform/postgres/revised.ts'

export type TenantMember = Revised & {
  id: string
  projectId: string
  tenantId: string
  userId: string
  roleName: string
}

const columns = ['id', 'projectId', 'tenantId', 'userId', 'roleName', ...revisionColumns] as const

export const tenantMemberFields: ListFields = {
  id: { column: 'id', match: 'id' },
  userId: { column: 'userId', match: 'id' },
  roleName: { column: 'roleName', match: 'exact' },
}

export function listTenantMembers(db: Reads, tenantId: string, page: Page): Promise<TenantMember[]> {
  return fetchPages(db, { table: 'user2tenants', columns, page, parent: 'tenantId', parentIds: [tenantId] })
}

/** Finds a membership by id in any tenant. */
export function findTenantMember(db: Reads, id: string): Promise<TenantMember | undefined> {
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

export function insertTenantMember(
  tx: Tx,
  values: Omit<TenantMember, 'id' | keyof Revised>,
): Promise<TenantMember> {
  return tx
    .insertInto('user2tenants')
    .values({ id: newId(), ...values })
    .returning(columns)
    .executeTakeFirstOrThrow()
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
