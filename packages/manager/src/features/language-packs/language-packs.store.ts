import { sql } from 'kysely'
import { inPlace } from '../../platform/db/batched-read.ts'
import type { Database, Db, PreparedStatement, Tx } from '../../platform/db/database.ts'
import { versionOf } from '../../platform/db/project-version.ts'
import type { KeyValuePair } from '../../platform/key-value-pairs.ts'
import type { ListFields, Page } from '../../platform/lists/filters.ts'
import { pageOf } from '../../platform/lists/page.ts'

export type LanguagePack = { id: string; projectId: string; name: string }
export type PackWithContent = LanguagePack & { content: KeyValuePair[] }

const columns = ['id', 'projectId', 'name'] as const

export const languagePackFields: ListFields = {
  id: { column: 'id', match: 'id' },
  name: { column: 'name', match: 'text' },
}

/** A page of a project's packs. */
export function listLanguagePacks(db: Db, projectId: string, page: Page): Promise<LanguagePack[]> {
  const where = sql<boolean>`language_packs.project_id = ${projectId}`
  return pageOf(db, { table: 'languagePacks', columns, page, where })
}

/** How many bytes the packs have together, and their contents when that is little enough. */
export async function findContents(
  db: Db,
  ids: readonly string[],
  maxBytes: number,
): Promise<{ bytes: number; contents: Map<string, KeyValuePair[]> }> {
  const { rows } = await sql<{ id: string; bytes: string; content: KeyValuePair[] | null }>`
    select id, bytes, case when bytes <= ${maxBytes} then content end as content
    from (
      select id, content, sum(content_bytes) over () as bytes
      from language_packs where id = any(${ids}::uuid[])
    ) wanted`.execute(db)
  return {
    bytes: Number(rows[0]?.bytes ?? 0),
    contents: new Map(rows.map(({ id, content }) => [id, content ?? []])),
  }
}

/** One pack, locked until the transaction ends. */
export async function lockLanguagePack(tx: Tx, id: string): Promise<PackWithContent | undefined> {
  const row = await tx
    .selectFrom('languagePacks')
    .select([...columns, 'content'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row && { ...row, content: row.content as unknown as KeyValuePair[] }
}

export function insertLanguagePack(tx: Tx, values: LanguagePack): Promise<LanguagePack> {
  return tx.insertInto('languagePacks').values(values).returning(columns).executeTakeFirstOrThrow()
}

export async function updateContent(tx: Tx, id: string, content: readonly KeyValuePair[]): Promise<void> {
  const text = JSON.stringify(content)
  await tx
    .updateTable('languagePacks')
    .set({ content: text, contentBytes: Buffer.byteLength(text), updatedAt: sql`now()` })
    .where('id', '=', id)
    .execute()
}

export async function deleteLanguagePack(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('languagePacks').where('id', '=', id).execute()
}

/** Which pack an application's frontend asks for: the first of these locales that there is. */
export type WantedPack = { applicationId: string; locales: readonly string[] }
export type ServedPack = {
  projectId: string
  version: string
  /** Null when there is none in these locales. */
  name: string | null
  content: KeyValuePair[] | null
}

const statement: PreparedStatement = {
  name: 'language-packs-served',
  text: `
    select wanted.position::int, app.project_id as "projectId", ${versionOf('app.project_id')} as version,
      coalesce(exact.name, general.name) as name,
      case when exact.name is not null then exact.content else general.content end as content
    from unnest($1::uuid[], $2::text[], $3::text[])
      with ordinality as wanted (application_id, locale, language, position)
    cross join lateral (
      select a.project_id from applications a where a.id = wanted.application_id limit 1
    ) app
    left join lateral (
      select p.name, p.content from language_packs p
      where p.project_id = app.project_id and lower(p.name) = wanted.locale limit 1
    ) exact on true
    left join lateral (
      select p.name, p.content from language_packs p
      where p.project_id = app.project_id and lower(p.name) = wanted.language and exact.name is null limit 1
    ) general on true`,
}

/** The packs for these wishes, in this order; null where there is no such application. */
export async function readServedPacks(
  read: Database['read'],
  wanted: readonly WantedPack[],
): Promise<(ServedPack | null)[]> {
  const locale = (index: number) => wanted.map(({ locales }) => locales[index]?.toLowerCase() ?? null)
  const values = [wanted.map(({ applicationId }) => applicationId), locale(0), locale(1)]
  const rows = await read<ServedPack & { position: number }>(statement, values)
  return inPlace<ServedPack>(wanted.length, rows)
}
