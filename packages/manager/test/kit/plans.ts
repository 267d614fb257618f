// Reads the query plans for the service's lookups.
import { Client } from 'pg'
import { lookupSettings } from '../../src/platform/postgres/pools.ts'

type Plan = { 'Node Type': string; 'Relation Name'?: string; 'Index Name'?: string; Plans?: Plan[] }

/** Returns the plan of a lookup as lines, without costs. */
export async function planOf(databaseUrl: string, text: string): Promise<string[]> {
  const client = new Client({ connectionString: databaseUrl, options: lookupSettings })
  await client.connect()
  await client.query(`prepare lookup as ${text}`)
  const parameters = new Set(text.match(/\$\d+/g)).size
  const nulls = Array.from({ length: parameters }, () => 'null').join(', ')
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (format json) execute lookup${parameters > 0 ? `(${nulls})` : ''}`,
  )
  await client.end()
  const lines: string[] = []
  const walk = (plan: Plan, depth: number): void => {
    // PostgreSQL chooses between an index scan and an index-only scan depending on the last vacuum.
    const kind = plan['Node Type'].replace('Index Only Scan', 'Index Scan')
    const at = [kind, plan['Relation Name'] ?? '', plan['Index Name'] ?? ''].join(' ').trim()
    lines.push(`${' '.repeat(depth)}${at}`)
    for (const child of plan.Plans ?? []) walk(child, depth + 1)
  }
  walk((rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan, 0)
  return lines
}
