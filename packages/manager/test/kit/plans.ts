// The plans by which the service's connections run their lookups.
import { Client } from 'pg'
import { lookupSettings } from '../../src/platform/postgres/pools.ts'

type Plan = { 'Node Type': string; 'Relation Name'?: string; 'Index Name'?: string; Plans?: Plan[] }

/** The plan of a lookup, as lines without figures. */
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
    // Whether the table behind an index has to be looked at depends on when it was last vacuumed.
    const kind = plan['Node Type'].replace('Index Only Scan', 'Index Scan')
    const at = [kind, plan['Relation Name'] ?? '', plan['Index Name'] ?? ''].join(' ').trim()
    lines.push(`${' '.repeat(depth)}${at}`)
    for (const child of plan.Plans ?? []) walk(child, depth + 1)
  }
  walk((rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan, 0)
  return lines
}
