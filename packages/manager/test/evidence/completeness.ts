// Checks that every audit row is in exactly the queries that the table lists.
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from '../kit/app.ts'
import { evidenceQueries } from '../../src/features/evidence/queries.pure.ts'
import { evidenceRows } from '../kit/evidence.ts'
import { type TrailRow, expectedQueries, inNoQuery, kindOf } from './expected.ts'

const rowKey = ({ chain_id, seq }: { chain_id: unknown; seq: unknown }): string =>
  `${String(chain_id)} ${String(seq)}`

/** Returns all audit rows that exist before the queries run. */
export const readTrail = async ({ sql }: TestApp): Promise<TrailRow[]> =>
  (
    await sql.query<TrailRow>(
      `select l.chain_id, l.seq, l.entity_type, l.action, l.changes, exists (
         select from tenant_role_definitions d where d.project_id = l.chain_id and d.name = 'stewards') as has_stewards
       from audit_logs l order by l.chain_id, l.seq`,
    )
  ).rows

/** Maps each row, by its position in the chain, to the names of the queries that contain it. */
async function readContainingQueries(service: TestApp, person: Person): Promise<Map<string, string[]>> {
  const containingQueries = new Map<string, string[]>()
  for (const { name } of evidenceQueries)
    for (const row of await evidenceRows(service, person, name)) {
      if (row['chain_id'] === undefined) continue
      const key = rowKey(row as { chain_id: string; seq: number })
      containingQueries.set(key, [...(containingQueries.get(key) ?? []), name])
    }
  return containingQueries
}

export type Completeness = { rows: number; kinds: Set<string>; surprises: string[] }

/**
 * Compares the queries with the table. A surprise is a row whose queries differ from the table, or a row of
 * an unknown kind.
 */
export async function checkCompleteness(service: TestApp, person: Person): Promise<Completeness> {
  const trail = await readTrail(service)
  const containingQueries = await readContainingQueries(service, person)
  const kinds = new Set<string>()
  const surprises: string[] = []
  for (const row of trail) {
    const kind = kindOf(row)
    kinds.add(kind)
    const wanted = kind in inNoQuery ? [] : expectedQueries[kind]
    const found = (containingQueries.get(rowKey(row)) ?? []).toSorted()
    if (wanted === undefined) surprises.push(`${kind}: not in the table; found in [${found.join()}]`)
    else if (found.join() !== wanted.toSorted().join())
      surprises.push(`${kind}: in [${found.join()}], expected [${wanted.join()}]`)
  }
  return { rows: trail.length, kinds, surprises: [...new Set(surprises)] }
}
