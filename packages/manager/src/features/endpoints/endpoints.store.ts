import { type Selectable, sql } from 'kysely'
import type { Endpoints } from '../../generated/db.ts'
import { lockApplicationProject } from '../../platform/postgres/application-rows.ts'
import { type Reads, type Tx, anyOf, withPreparedStatements } from '../../platform/postgres/handles.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPages } from '../../platform/lists/page.ts'
import { getPageHandle } from '../../platform/lists/prepared-pages.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

/** An endpoint without its secrets and its template. A template can be long, so it is read only when requested. */
export type Endpoint = RevisionFields & {
  id: string
  projectId: string
  applicationId: string
  name: string
  description: string
  enabled: boolean
  consumeUrl: string
  url: string | null
  authType: string
  authUsername: string
  inputMessageType: string | null
  outputMessageType: string | null
  logLevel: string
  createdAt: string
}
export type CompleteEndpoint = Endpoint & { transformationTemplate: string }
export type EndpointValues = Omit<
  CompleteEndpoint,
  'id' | 'projectId' | 'applicationId' | 'createdAt' | keyof RevisionFields
>
/** Sealed secrets to store. An absent secret is not changed, and null clears the secret. */
export type SealedSecrets = Partial<Pick<Selectable<Endpoints>, 'authPassword' | 'authToken'>>

const columns = [
  ...(['id', 'projectId', 'applicationId', 'name', 'description', 'enabled', 'consumeUrl', 'url'] as const),
  ...(['authType', 'authUsername', 'inputMessageType', 'outputMessageType'] as const),
  ...(['logLevel', 'createdAt'] as const),
  ...revisionColumns,
]
const wholeColumns = [...columns, 'transformationTemplate'] as const

export const endpointFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'text' },
  description: { column: 'description', match: 'text' },
  enabled: { column: 'enabled', match: 'boolean' },
  consumeURL: { column: 'consumeUrl', match: 'text' },
  url: { column: 'url', match: 'text', isNullable: true },
  authType: { column: 'authType', match: 'exact' },
  logLevel: { column: 'logLevel', match: 'exact' },
  createdAt: { column: 'createdAt', match: 'time' },
  updatedAt: { column: 'updatedAt', match: 'time' },
}

/** Returns a page of endpoints for each of the applications. */
export function listEndpoints(db: Reads, applicationIds: readonly string[], page: Page): Promise<Endpoint[]> {
  return fetchPages(getPageHandle(db, page, ['name']), {
    table: 'endpoints',
    columns,
    page,
    parent: 'applicationId',
    parentIds: applicationIds,
  })
}

/** Returns the endpoints with these ids, in any order. */
export function findEndpoints(db: Reads, ids: readonly string[]): Promise<Endpoint[]> {
  return withPreparedStatements(db)
    .selectFrom('endpoints')
    .select(columns)
    .where('id', '=', anyOf(ids))
    .execute()
}

/** Returns the templates by endpoint id. */
export async function findTemplates(db: Reads, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await withPreparedStatements(db)
    .selectFrom('endpoints')
    .select(['id', 'transformationTemplate'])
    .where('id', '=', anyOf(ids))
    .execute()
  return new Map(rows.map(({ id, transformationTemplate }) => [id, transformationTemplate]))
}

/** Returns the template sizes in bytes, by endpoint id. */
export async function findTemplateBytes(db: Reads, ids: readonly string[]): Promise<Map<string, number>> {
  const bytes = sql<number>`octet_length(transformation_template)`.as('bytes')
  const rows = await withPreparedStatements(db)
    .selectFrom('endpoints')
    .select(['id', bytes])
    .where('id', '=', anyOf(ids))
    .execute()
  return new Map(rows.map((row) => [row.id, row.bytes]))
}

/** Returns one endpoint of the application, or undefined. */
export function findEndpoint(db: Reads, applicationId: string, id: string): Promise<Endpoint | undefined> {
  return withPreparedStatements(db)
    .selectFrom('endpoints')
    .select(columns)
    .where('applicationId', '=', applicationId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Returns one endpoint and locks it until the transaction ends. */
export function lockEndpoint(tx: Tx, id: string): Promise<CompleteEndpoint | undefined> {
  return tx.selectFrom('endpoints').select(wholeColumns).where('id', '=', id).forUpdate().executeTakeFirst()
}

/** Inserts an endpoint in the project of the application. Returns undefined if the application does not exist. */
export async function insertEndpoint(
  tx: Tx,
  values: EndpointValues & SealedSecrets & { id: string; applicationId: string },
): Promise<CompleteEndpoint | undefined> {
  const projectId = await lockApplicationProject(tx, values.applicationId)
  if (projectId === undefined) return undefined
  return tx
    .insertInto('endpoints')
    .values({ ...values, projectId })
    .returning(wholeColumns)
    .executeTakeFirstOrThrow()
}

export function updateEndpoint(
  tx: Tx,
  id: string,
  values: EndpointValues & SealedSecrets,
): Promise<CompleteEndpoint> {
  return tx
    .updateTable('endpoints')
    .set({ ...values, updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(wholeColumns)
    .executeTakeFirstOrThrow()
}

export async function deleteEndpoint(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('endpoints').where('id', '=', id).execute()
}
