import { sql } from 'kysely'
import { lockApplicationProject } from '../../platform/postgres/application-rows.ts'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

export type Specification = RevisionFields & {
  id: string
  projectId: string
  applicationId: string
  environmentId: string
  /** The workload in the format namespace/name. */
  workload: string
  image: string
  version: string
  minReplicas: number
  maxReplicas: number
  port: number
  healthPath: string
  readinessTimeoutSeconds: number
  scaleToZero: boolean
  createdAt: string
}
export type SpecificationValues = Pick<
  Specification,
  | 'workload'
  | 'image'
  | 'version'
  | 'minReplicas'
  | 'maxReplicas'
  | 'port'
  | 'healthPath'
  | 'readinessTimeoutSeconds'
>

const columns = [
  ...(['id', 'projectId', 'applicationId', 'environmentId', 'workload', 'image', 'version'] as const),
  ...(['minReplicas', 'maxReplicas', 'port', 'healthPath', 'readinessTimeoutSeconds'] as const),
  ...(['scaleToZero', 'createdAt'] as const),
  ...revisionColumns,
]

export const specificationFields: ListFields = {
  id: { column: 'id', match: 'id' },
  workload: { column: 'workload', match: 'text' },
  image: { column: 'image', match: 'text' },
  version: { column: 'version', match: 'text' },
  minReplicas: { column: 'minReplicas', match: 'number' },
  maxReplicas: { column: 'maxReplicas', match: 'number' },
  port: { column: 'port', match: 'number' },
  healthPath: { column: 'healthPath', match: 'text' },
  readinessTimeoutSeconds: { column: 'readinessTimeoutSeconds', match: 'number' },
  scaleToZero: { column: 'scaleToZero', match: 'boolean' },
  createdAt: { column: 'createdAt', match: 'time' },
  updatedAt: { column: 'updatedAt', match: 'time' },
}

/** Returns a page of the specifications of an application. */
export function listSpecifications(db: Reads, applicationId: string, page: Page): Promise<Specification[]> {
  return fetchPages(db, {
    table: 'deploymentSpecifications',
    columns,
    page,
    parent: 'applicationId',
    parentIds: [applicationId],
  })
}

/** Returns the specifications with these ids, in any order. */
export function findSpecifications(db: Reads, ids: readonly string[]): Promise<Specification[]> {
  return db.selectFrom('deploymentSpecifications').select(columns).where('id', 'in', ids).execute()
}

/** Returns one specification and locks it until the transaction ends. */
export function lockSpecification(tx: Tx, id: string): Promise<Specification | undefined> {
  return (
    tx
      .selectFrom('deploymentSpecifications')
      .select(columns)
      .where('id', '=', id)
      // This lock mode does not block wakes, which only reference the row.
      .forNoKeyUpdate()
      .executeTakeFirst()
  )
}

/**
 * Inserts a specification with the project of the application. Returns undefined if the application does not
 * exist. The environment must belong to the same project.
 */
export async function insertSpecification(
  tx: Tx,
  values: SpecificationValues & { id: string; applicationId: string; environmentId: string },
): Promise<Specification | undefined> {
  const projectId = await lockApplicationProject(tx, values.applicationId)
  if (projectId === undefined) return undefined
  return tx
    .insertInto('deploymentSpecifications')
    .values({ ...values, projectId })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export function updateSpecification(
  tx: Tx,
  id: string,
  values: SpecificationValues | Pick<Specification, 'scaleToZero'>,
): Promise<Specification> {
  return tx
    .updateTable('deploymentSpecifications')
    .set({ ...values, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteSpecification(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('deploymentSpecifications').where('id', '=', id).execute()
}
