import { sql } from 'kysely'
import { lockApplicationProject } from '../../platform/postgres/application-rows.ts'
import { type Reads, type Tx, withPreparedStatements } from '../../platform/postgres/handles.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { getPageHandle } from '../../platform/lists/prepared-pages.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

export type Trigger = RevisionFields & {
  id: string
  projectId: string
  applicationId: string
  name: string
  description: string
  cronExpression: string
  runKey: string
  enabled: boolean
  /** Null for a disabled trigger. Ticks update this field. */
  nextFireAt: string | null
  createdAt: string
}
export type TriggerValues = Pick<Trigger, 'name' | 'description' | 'cronExpression' | 'runKey' | 'enabled'>
type PlannedTrigger = Pick<Trigger, 'nextFireAt'>

const columns = [
  ...(['id', 'projectId', 'applicationId', 'name', 'description', 'cronExpression', 'runKey'] as const),
  ...(['enabled', 'nextFireAt', 'createdAt'] as const),
  ...revisionColumns,
]

export const triggerFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'text' },
  description: { column: 'description', match: 'text' },
  cronExpression: { column: 'cronExpression', match: 'text' },
  runKey: { column: 'runKey', match: 'text' },
  enabled: { column: 'enabled', match: 'boolean' },
  createdAt: { column: 'createdAt', match: 'time' },
  updatedAt: { column: 'updatedAt', match: 'time' },
}

/** Returns a page of triggers per application. */
export function listTriggers(db: Reads, applicationIds: readonly string[], page: Page): Promise<Trigger[]> {
  return fetchPages(getPageHandle(db, page, ['name']), {
    table: 'triggers',
    columns,
    page,
    parent: 'applicationId',
    parentIds: applicationIds,
  })
}

export function findTrigger(db: Reads, id: string): Promise<Trigger | undefined> {
  return withPreparedStatements(db)
    .selectFrom('triggers')
    .select(columns)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Returns a trigger and locks its row until the transaction ends. */
export function lockTrigger(tx: Tx, id: string): Promise<Trigger | undefined> {
  return tx.selectFrom('triggers').select(columns).where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Returns the database time of this statement, which can be much later than the start of the transaction. */
export async function readNow(tx: Tx): Promise<Date> {
  const { rows } = await sql<{ now: string }>`select clock_timestamp() as now`.execute(tx)
  return new Date((rows[0] as { now: string }).now)
}

/** Inserts a trigger with the project of its application. Returns undefined if the application no longer exists. */
export async function insertTrigger(
  tx: Tx,
  values: TriggerValues & PlannedTrigger & { id: string; applicationId: string },
): Promise<Trigger | undefined> {
  const projectId = await lockApplicationProject(tx, values.applicationId)
  if (projectId === undefined) return undefined
  return tx
    .insertInto('triggers')
    .values({ ...values, projectId })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Returns whether the project has more than `max` triggers. Reads at most `max` + 1 rows. */
export async function hasMoreTriggers(tx: Tx, projectId: string, max: number): Promise<boolean> {
  const { rows } = await sql<{ isMore: boolean }>`
    select exists (select from triggers where project_id = ${projectId} offset ${max}) as is_more`.execute(tx)
  return rows[0]?.isMore === true
}

/** Updates a trigger. Without `nextFireAt`, the stored plan stays unchanged. */
export function updateTrigger(
  tx: Tx,
  id: string,
  values: TriggerValues & Partial<PlannedTrigger>,
): Promise<Trigger> {
  return tx
    .updateTable('triggers')
    .set({ ...values, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteTrigger(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('triggers').where('id', '=', id).execute()
}
