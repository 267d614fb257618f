// Whether every row of the trail is in exactly the queries that the table says.
import type { Person } from '@manager/harness/callers.ts'
import type { TestApp } from '../kit/app.ts'
import { evidenceQueries } from '../../src/features/evidence/queries.pure.ts'
import { evidenceRows } from '../kit/evidence.ts'
import { type TrailRow, expectedQueries, inNoQuery, kindOf } from './expected.ts'

const placeOf = ({ chain_id, seq }: { chain_id: unknown; seq: unknown }): string =>
  `${String(chain_id)} ${String(seq)}`

/** All rows of the trail that were there before the queries are asked. */
export const readTrail = async ({ sql }: TestApp): Promise<TrailRow[]> =>
  (
    await sql.query<TrailRow>(
      `select l.chain_id, l.seq, l.entity_type, l.action, l.changes, exists (
         select from tenant_role_definitions d where d.project_id = l.chain_id and d.name = 'stewards') as has_stewards
       from audit_logs l order by l.chain_id, l.seq`,
    )
  ).rows

/** The names of the queries that hold a row, by its place in the chain. */
async function readHolders(service: TestApp, person: Person): Promise<Map<string, string[]>> {
  const holders = new Map<string, string[]>()
  for (const { name } of evidenceQueries)
    for (const row of await evidenceRows(service, person, name)) {
      if (row['chain_id'] === undefined) continue
      const place = placeOf(row as { chain_id: string; seq: number })
      holders.set(place, [...(holders.get(place) ?? []), name])
    }
  return holders
}

export type Completeness = { rows: number; kinds: Set<string>; surprises: string[] }

/** Compares the queries with the table; a surprise is a row in another query than the table says, or of no known kind. */
export async function checkCompleteness(service: TestApp, person: Person): Promise<Completeness> {
  const trail = await readTrail(service)
  const holders = await readHolders(service, person)
  const kinds = new Set<string>()
  const surprises: string[] = []
  for (const row of trail) {
    const kind = kindOf(row)
    kinds.add(kind)
    const wanted = kind in inNoQuery ? [] : expectedQueries[kind]
    const found = (holders.get(placeOf(row)) ?? []).toSorted()
    if (wanted === undefined)
      surprises.push(`${kind}: nobody said which queries hold it; found in [${found.join()}]`)
    else if (found.join() !== wanted.toSorted().join())
      surprises.push(`${kind}: in [${found.join()}], expected [${wanted.join()}]`)
  }
  return { rows: trail.length, kinds, surprises: [...new Set(surprises)] }
}
