// Indexes of large tables that are not partitioned. A migration runs in a transaction, where PostgreSQL cannot build an
// index concurrently, and a normal build blocks writers until it has read all rows. `migrate up` therefore builds these
// indexes after the migrations. Until an index exists, queries that would use it read more rows.
import type { Client } from 'pg'
import { createSearchTextSql } from '../lists/search-text.ts'
import { runWithoutLockTimeout } from './partition-indexes.ts'

// GIN has no operator for a single UUID without the extension btree_gin.
const projectKey = ['(array[project_id])']

/**
 * Returns the definition of an index for `search`: the trigrams of a row's texts, and the row's project. A scan for a
 * project and a text skips the trigrams of other projects. Every scan reads the whole pending list of the index, so
 * the limit of that list is low.
 */
const createSearchIndex = (table: string, keys: readonly string[], texts: readonly string[]): string =>
  `${table} using gin (${[...keys, `${createSearchTextSql(texts)} gin_trgm_ops`].join(', ')})
   with (gin_pending_list_limit = 64)`

const indexes: Readonly<Record<string, string>> = {
  audit_logs_created_at_idx:
    'audit_logs using brin (created_at) with (pages_per_range = 32, autosummarize = on)',
  // The roles of a rule, which the database deletes together with the rule.
  user2projects_group_rule_idx: 'user2projects (group_rule_id) where group_rule_id is not null',
  user2tenants_group_rule_idx: 'user2tenants (group_rule_id) where group_rule_id is not null',
  user2applications_group_rule_idx: 'user2applications (group_rule_id) where group_rule_id is not null',
  projects_search_idx: createSearchIndex('projects', [], ['name', 'slug']),
  tenants_search_idx: createSearchIndex('tenants', projectKey, ['name', 'slug']),
  applications_search_idx: createSearchIndex('applications', projectKey, ['name', 'slug']),
  endpoints_search_idx: createSearchIndex('endpoints', projectKey, ['name']),
  triggers_search_idx: createSearchIndex('triggers', projectKey, ['name', 'run_key']),
  machine_users_search_idx: createSearchIndex('machine_users', projectKey, ['name', 'username']),
  language_packs_search_idx: createSearchIndex('language_packs', projectKey, ['name']),
  pilet_packages_search_idx: createSearchIndex('pilet_packages', projectKey, ['name']),
}

/** Names of the indexes. They can be missing regardless of which migrations are applied. */
export const builtIndexes: readonly string[] = Object.keys(indexes)

/** Builds missing indexes, and rebuilds those that an interrupted attempt left invalid. */
export async function buildIndexes(client: Client, print: (line: string) => void): Promise<void> {
  for (const [name, definition] of Object.entries(indexes)) {
    const { rows } = await client.query<{ isValid: boolean }>(
      `select i.indisvalid as "isValid" from pg_index i where i.indexrelid = to_regclass($1)`,
      [`public.${name}`],
    )
    if (rows[0]?.isValid === true) continue
    if (await hasRows(client, definition)) print(`building ${name} without blocking traffic`)
    if (rows.length > 0) await client.query(`drop index concurrently public.${name}`)
    await runWithoutLockTimeout(client, `create index concurrently ${name} on public.${definition}`)
  }
}

async function hasRows(client: Client, definition: string): Promise<boolean> {
  const [table] = definition.split(' ')
  const { rowCount } = await client.query(`select from public.${table} limit 1`)
  return rowCount === 1
}
