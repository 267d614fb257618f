// These statements find candidates for a search, at most `maxCandidates` of one kind. The GIN indexes `…_search_idx`
// (platform/postgres/built-indexes.ts) contain the project in addition to the trigrams, so a search in a few projects
// does not read the objects of other projects. No other statement uses these indexes by accident, because they contain
// only expressions.
import { type RawBuilder, sql } from 'kysely'
import type { Reads, Tx } from '../../platform/postgres/handles.ts'
import { createContainsPattern, createStartPattern } from '../../platform/lists/filters.ts'
import {
  type SearchMatch,
  createSearchPattern,
  createSearchTextSql,
} from '../../platform/lists/search-text.ts'
import type { IdKind, TextKind } from './search-text.pure.ts'

export const maxCandidates = 500
/** Maximum number of project members that a search for users reads if the caller is not an administrator. */
export const maxMembers = 10_000

/** The rows of one kind that the caller may see: the rows of these projects, and the rows with these ids. */
export type VisibleObjects = 'all' | { projectIds: readonly string[]; ids: readonly string[] }
/** The users that the caller may see: the members of these projects, and the caller. */
export type VisibleUsers = 'all' | { projectIds: readonly string[]; callerId: string | null }

export type Candidate = {
  id: string
  title: string
  subtitle: string | null
  projectId: string | null
  applicationId: string | null
  environmentId: string | null
  endpointId: string | null
  triggerId: string | null
  /** The values of the searched columns, in the order of `textFields`. */
  texts: string[]
}

type Source = {
  from: string
  title: string
  subtitle?: string
  /** Column that contains the project of the row. */
  project?: string
  application?: true
  environment?: true
  trigger?: true
  /** The searched columns, keyed by the GraphQL field that shows each column. */
  texts?: Readonly<Record<string, string>>
}

const sources = {
  project: {
    from: 'projects',
    title: 'name',
    subtitle: 'slug',
    project: 'id',
    texts: { name: 'name', slug: 'slug' },
  },
  tenant: { from: 'tenants', title: 'name', subtitle: 'slug', texts: { name: 'name', slug: 'slug' } },
  application: {
    from: 'applications',
    title: 'name',
    subtitle: 'slug',
    texts: { name: 'name', slug: 'slug' },
  },
  environment: { from: 'environments', title: 'display_name', subtitle: 'name' },
  endpoint: {
    from: 'endpoints',
    title: 'name',
    subtitle: 'consume_url',
    application: true,
    texts: { name: 'name' },
  },
  trigger: {
    from: 'triggers',
    title: 'name',
    subtitle: 'run_key',
    application: true,
    texts: { name: 'name', runKey: 'run_key' },
  },
  triggerRun: {
    // The runs of a deleted trigger are not shown.
    from: '(select r.* from trigger_runs r join triggers t on t.id = r.trigger_id)',
    title: 'trigger_name',
    subtitle: `to_char(scheduled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    application: true,
    environment: true,
    trigger: true,
  },
  machineUser: {
    from: 'machine_users',
    title: 'name',
    subtitle: 'username',
    environment: true,
    texts: { name: 'name', username: 'username' },
  },
  languagePack: { from: 'language_packs', title: 'name', texts: { name: 'name' } },
  piletPackage: { from: 'pilet_packages', title: 'name', subtitle: 'version', texts: { name: 'name' } },
  user: {
    from: 'users',
    title: `coalesce(nullif(external_name, ''), external_username)`,
    subtitle: 'external_email',
    project: 'null::uuid',
    texts: {
      externalName: 'external_name',
      externalUsername: 'external_username',
      externalEmail: 'external_email',
    },
  },
} as const satisfies Record<IdKind, Source>

/** Returns the GraphQL fields of the searched columns of a kind. */
export const textFields = (kind: TextKind): string[] => Object.keys(sources[kind].texts)

const createIdsSql = (ids: readonly string[]): RawBuilder<unknown> => sql`${ids}::uuid[]`

const createReference = (column: string, isPresent = false): string =>
  `${isPresent ? column : 'null::uuid'} as ${column}`

function createHitColumns({ project = 'project_id', ...source }: Source): RawBuilder<unknown> {
  return sql.raw(
    [
      'id',
      `${source.title} as title`,
      `${source.subtitle ?? 'null::text'} as subtitle`,
      `${project} as project_id`,
      createReference('application_id', source.application),
      createReference('environment_id', source.environment),
      'null::uuid as endpoint_id',
      createReference('trigger_id', source.trigger),
      `array[${Object.values(source.texts ?? {}).join(', ')}]::text[] as texts`,
    ].join(', '),
  )
}

/** Returns the object with this id if the caller may see it. */
export async function findById(
  db: Reads,
  kind: Exclude<IdKind, 'user'>,
  id: string,
  visible: VisibleObjects,
): Promise<Candidate[]> {
  const source: Source = sources[kind]
  const condition =
    visible === 'all'
      ? sql`true`
      : sql`(${sql.raw(source.project ?? 'project_id')} = any(${createIdsSql(visible.projectIds)}) or id = any(${createIdsSql(visible.ids)}))`
  const { rows } = await sql<Candidate>`
    select ${createHitColumns(source)} from ${sql.raw(source.from)} as found where id = ${id} and ${condition}`.execute(
    db,
  )
  return rows
}

/** Returns the user with this id if the caller may see them. */
export async function findUserById(db: Reads, id: string, visible: VisibleUsers): Promise<Candidate[]> {
  const condition =
    visible === 'all'
      ? sql`true`
      : sql`(id = ${visible.callerId}::uuid or exists (select from user2projects m
          where m.user_id = users.id and m.project_id = any(${createIdsSql(visible.projectIds)})))`
  const { rows } = await sql<Candidate>`
    select ${createHitColumns(sources.user)} from users where id = ${id} and ${condition}`.execute(db)
  return rows
}

/**
 * Makes the following statements of the transaction use the search indexes. Otherwise, the planner expects to find
 * matches early in a table scan, and reads the whole table if nothing matches.
 */
export async function forceSearchIndexes(tx: Tx): Promise<void> {
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true),
    set_config('enable_bitmapscan', 'on', true)`.execute(tx)
}

type TextSearch = { text: string; match: SearchMatch }

/** Returns up to `maxCandidates` + 1 objects of a kind that match the text and that the caller may see. */
export async function findByText(
  tx: Tx,
  kind: Exclude<TextKind, 'user'>,
  search: TextSearch,
  visible: VisibleObjects,
): Promise<Candidate[]> {
  const source: Source = sources[kind]
  const from = sql.raw(source.from)
  if (visible === 'all') return selectMatches(tx, source, search, { from })
  const { projectIds, ids } = visible
  const condition = sql`array[project_id] && ${createIdsSql(projectIds)}`
  const rows = projectIds.length === 0 ? [] : await selectMatches(tx, source, search, { from, condition })
  if (ids.length === 0) return rows
  // `offset 0` makes PostgreSQL look up the rows by key before it compares their texts.
  const own = sql`(select * from ${from} where id = any(${createIdsSql(ids)}) offset 0) as own`
  return [...rows, ...(await selectMatches(tx, source, search, { from: own }))]
}

/** Returns up to `maxCandidates` + 1 users that match the text and that the caller may see. */
export async function findUsersByText(
  tx: Tx,
  { text, match }: TextSearch,
  visible: VisibleUsers,
): Promise<Candidate[]> {
  const literal = createStartPattern(text)
  const pattern = { whole: literal.slice(0, -1), start: literal, anywhere: createContainsPattern(text) }[
    match
  ]
  const matches = Object.values(sources.user.texts).map((column) => sql`${sql.raw(column)} ilike ${pattern}`)
  // `offset 0` makes PostgreSQL look up the members by key before it compares their texts.
  const from =
    visible === 'all'
      ? sql`users`
      : sql`(
          select * from users where id = any(array(
            select user_id from (
              select user_id from user2projects where project_id = any(${createIdsSql(visible.projectIds)}) limit ${maxMembers}
            ) members
            union select ${visible.callerId}::uuid))
          offset 0) as seen`
  const { rows } = await sql<Candidate>`
    select ${createHitColumns(sources.user)} from ${from} where ${sql.join(matches, sql` or `)}
    limit ${maxCandidates + 1}`.execute(tx)
  return rows
}

async function selectMatches(
  tx: Tx,
  source: Source,
  { text, match }: TextSearch,
  { from, condition = sql`true` }: { from: RawBuilder<unknown>; condition?: RawBuilder<unknown> },
): Promise<Candidate[]> {
  const searched = sql.raw(createSearchTextSql(Object.values(source.texts ?? {})))
  const { rows } = await sql<Candidate>`
    select ${createHitColumns(source)} from ${from}
    where ${condition} and ${searched} ilike ${createSearchPattern(text, match)}
    limit ${maxCandidates + 1}`.execute(tx)
  return rows
}
