// The version of everything in a project: the head of its audit chain. Every change in a project appends an audit row in
// its own transaction, so the head moves exactly when something has changed, and for every reader at the moment of commit.
// The hash tells apart two histories that reach the same number, as after a restored backup.
import { createBatched, inPlace } from './batched.ts'
import type { Database, PreparedStatement } from './database.ts'

/** The version as an SQL expression; `projectId` is an SQL expression too. */
export const versionOf = (projectId: string): string =>
  `coalesce((select c.seq || '.' || encode(substr(c.hash, 1, 8), 'hex') from audit_chains c
    where c.chain_id = ${projectId}), '0')`

const statement: PreparedStatement = {
  name: 'project-versions',
  text: `
    select wanted.position::int, ${versionOf('wanted.id')} as version
    from unnest($1::uuid[]) with ordinality as wanted (id, position)`,
}

export type ReadProjectVersion = (projectId: string) => Promise<string | null>

/** Reads versions; requests that arrive together share a statement, which begins after the last of them arrived. */
export function createProjectVersions(database: Pick<Database, 'read'>): ReadProjectVersion {
  return createBatched<string, string>({
    keyOf: (id) => id,
    run: async (ids) => {
      const rows = await database.read<{ position: number; version: string }>(statement, [ids])
      return inPlace(ids.length, rows).map((row) => row?.version ?? null)
    },
  })
}
