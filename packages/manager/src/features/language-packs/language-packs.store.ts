import { sql } from 'kysely'
import { orderByPosition } from '../../platform/postgres/coalesce.ts'
import { type Reads, type Tx, anyOf, withPreparedStatements } from '../../platform/postgres/handles.ts'
import type { PreparedStatement, RunPrepared } from '../../platform/postgres/prepared.ts'
import { createVersionSql } from '../../platform/postgres/project-version.ts'
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { fetchPage } from '../../platform/lists/page.ts'
import { type RevisionFields, revisionColumns } from '../../platform/postgres/revised.ts'

/** Maximum number of packs per project. */
export const maxPacks = 1_000

export type LanguagePack = RevisionFields & {
  id: string
  projectId: string
  name: string
  contentBytes: number
}
export type PackWithContent = LanguagePack & { content: KeyValuePair[] }

const columns = ['id', 'projectId', 'name', 'contentBytes', ...revisionColumns] as const

export const languagePackFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'text' },
}

export function listLanguagePacks(db: Reads, projectId: string, page: Page): Promise<LanguagePack[]> {
  const where = sql<boolean>`language_packs.project_id = ${projectId}`
  return fetchPage(db, { table: 'languagePacks', columns, page, where })
}

/** Returns the packs with these ids, in any order and without their content. */
export function findLanguagePacks(db: Reads, ids: readonly string[]): Promise<LanguagePack[]> {
  return db.selectFrom('languagePacks').select(columns).where('id', 'in', ids).execute()
}

/** Returns the content of each pack, keyed by pack id. */
export async function findContents(db: Reads, ids: readonly string[]): Promise<Map<string, KeyValuePair[]>> {
  const rows = await withPreparedStatements(db)
    .selectFrom('languagePacks')
    .select(['id', 'content'])
    .where('id', '=', anyOf(ids))
    .execute()
  return new Map(rows.map(({ id, content }) => [id, content as unknown as KeyValuePair[]]))
}

export async function countLanguagePacks(tx: Tx, projectId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('languagePacks')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('projectId', '=', projectId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Returns a pack and locks its row until the transaction ends. */
export async function lockLanguagePack(tx: Tx, id: string): Promise<PackWithContent | undefined> {
  const row = await tx
    .selectFrom('languagePacks')
    .select([...columns, 'content'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row && { ...row, content: row.content as unknown as KeyValuePair[] }
}

/** Locks packs of a project in the order of their ids until the transaction ends. */
export function lockLanguagePacks(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
): Promise<LanguagePack[]> {
  return tx
    .selectFrom('languagePacks')
    .select(columns)
    .where('projectId', '=', projectId)
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute()
}

export function insertLanguagePack(
  tx: Tx,
  values: { id: string; projectId: string; name: string },
): Promise<LanguagePack> {
  return tx.insertInto('languagePacks').values(values).returning(columns).executeTakeFirstOrThrow()
}

export function updateContent(tx: Tx, id: string, content: readonly KeyValuePair[]): Promise<LanguagePack> {
  const text = JSON.stringify(content)
  return tx
    .updateTable('languagePacks')
    .set({ content: text, contentBytes: Buffer.byteLength(text), updatedAt: sql`now()` })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteLanguagePack(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('languagePacks').where('id', '=', id).execute()
}

/** The packs that an application's frontends can request: the pack names of its project, in lower case. */
export type PackNames = { projectId: string; version: string; names: string[] }

const namesStatement: PreparedStatement = {
  name: 'language-packs-names',
  kind: 'read',
  text: `
    select wanted.position::int, app.project_id as "projectId", ${createVersionSql('app.project_id', 'texts')} as version,
      array(select lower(p.name) from language_packs p where p.project_id = app.project_id limit ${maxPacks * 2}) as names
    from unnest($1::uuid[]) with ordinality as wanted (application_id, position)
    cross join lateral (
      select a.project_id from applications a where a.id = wanted.application_id limit 1
    ) app`,
}

/** Returns the names in the order of the applications; null for an unknown application. */
export async function readPackNames(
  run: RunPrepared,
  applicationIds: readonly string[],
): Promise<(PackNames | null)[]> {
  const rows = await run<PackNames & { position: number }>(namesStatement, [applicationIds])
  return orderByPosition<PackNames>(applicationIds.length, rows)
}

const packStatement: PreparedStatement = {
  name: 'language-packs-served',
  kind: 'read',
  size: 'large',
  text: 'select name, content from language_packs where project_id = $1 and lower(name) = $2',
}

/** Returns a pack by project and lower-case name. */
export async function readPack(
  run: RunPrepared,
  projectId: string,
  name: string,
): Promise<{ name: string; content: KeyValuePair[] } | undefined> {
  const rows = await run<{ name: string; content: KeyValuePair[] }>(packStatement, [projectId, name])
  return rows[0]
}
