import { sql } from 'kysely'
import { type Reads, type Tx, anyOf } from '../../platform/postgres/handles.ts'
import { newId } from '../../platform/ids.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPage } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

/** A role of the members of a group in a project, or in the tenant or application of the project that is not null. */
export type GroupRule = RevisionFields & {
  id: string
  projectId: string
  groupId: string
  tenantId: string | null
  applicationId: string | null
  role: string
  creatorId: string
  createdAt: string
}

const columns = [
  'id',
  'projectId',
  'groupId',
  'tenantId',
  'applicationId',
  'role',
  'creatorId',
  'createdAt',
  ...revisionColumns,
] as const

export const groupRuleFields: ListFields = {
  id: { column: 'id', match: 'id' },
  groupId: { column: 'groupId', match: 'id' },
  projectId: { column: 'projectId', match: 'id' },
  tenantId: { column: 'tenantId', match: 'id', isNullable: true },
  applicationId: { column: 'applicationId', match: 'id', isNullable: true },
  role: { column: 'role', match: 'exact' },
  createdAt: { column: 'createdAt', match: 'time' },
}

export const listRules = (db: Reads, page: Page): Promise<GroupRule[]> =>
  fetchPage(db, { table: 'groupRules', columns, page })

export const findRule = (tx: Tx, id: string): Promise<GroupRule | undefined> =>
  tx.selectFrom('groupRules').select(columns).where('id', '=', id).executeTakeFirst()

/** Returns the rules of groups. The lock of a group keeps its rules unchanged. */
export const listRulesOfGroups = (tx: Tx, groupIds: readonly string[]): Promise<GroupRule[]> =>
  tx.selectFrom('groupRules').select(columns).where('groupId', '=', anyOf(groupIds)).orderBy('id').execute()

/** Returns the project of a tenant or of an application. */
export async function findProjectOf(
  tx: Tx,
  table: 'projects' | 'tenants' | 'applications',
  id: string,
): Promise<string | undefined> {
  const project = table === 'projects' ? sql.ref('id') : sql.ref('project_id')
  const { rows } = await sql<{ projectId: string }>`
    select ${project} as project_id from ${sql.table(table)} where id = ${id}`.execute(tx)
  return rows[0]?.projectId
}

export const insertRule = (
  tx: Tx,
  values: Omit<GroupRule, 'id' | 'createdAt' | keyof RevisionFields>,
): Promise<GroupRule> =>
  tx
    .insertInto('groupRules')
    .values({ id: newId(), ...values })
    .returning(columns)
    .executeTakeFirstOrThrow()

export const updateRule = (tx: Tx, id: string, role: string): Promise<GroupRule> =>
  tx
    .updateTable('groupRules')
    .set({ role, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export async function deleteRule(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('groupRules').where('id', '=', id).execute()
}
