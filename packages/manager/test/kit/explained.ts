// Runs service code on a database and explains its statements, with their plans and buffers.
import { CamelCasePlugin, type CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import { Client, Pool } from 'pg'
import type { DB } from '../../src/generated/db.ts'
import type { Db } from '../../src/platform/postgres/handles.ts'

// The settings of the connections that requests use (platform/postgres/pools.ts).
const serviceSettings = '-c jit=off'

type Node = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Node[]
}
export type Explained = {
  /** One line for each kind of plan node and the table or index that it reads, without duplicates. */
  plan: string[]
  buffers: number
}

/** Connects to a database. `explain` runs the code, and then explains the statements that it ran, in one transaction. */
export async function createExplainer(url: string) {
  const statements: CompiledQuery[] = []
  const kysely = new Kysely<DB>({
    dialect: new PostgresDialect({
      pool: new Pool({ connectionString: url, max: 1, options: serviceSettings }),
    }),
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
    log: ({ query }) => void statements.push(query),
  })
  const client = new Client({ connectionString: url, options: serviceSettings })
  await client.connect()
  const db = {
    read: kysely,
    transaction: (work: Parameters<Db['transaction']>[0]) => kysely.transaction().execute(work),
  } as Pick<Db, 'read' | 'transaction'> as Db

  async function explain(run: (db: Db) => Promise<unknown>): Promise<Explained> {
    statements.length = 0
    await run(db)
    const explained: Explained = { plan: [], buffers: 0 }
    await client.query('begin')
    for (const { sql, parameters } of statements) {
      if (/^\s*(begin|commit|set transaction)/.test(sql)) continue
      if (sql.includes('set_config')) await client.query(sql)
      else await explainStatement(sql, parameters, explained)
    }
    await client.query('rollback')
    return explained
  }

  async function explainStatement(
    text: string,
    parameters: readonly unknown[],
    into: Explained,
  ): Promise<void> {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `explain (analyze, buffers, timing off, format json) ${text}`,
      [...parameters],
    )
    const [{ Plan: root }] = (rows[0] as { 'QUERY PLAN': [{ Plan: Node }] })['QUERY PLAN']
    into.buffers += root['Shared Hit Blocks'] + root['Shared Read Blocks']
    const walk = (node: Node): void => {
      // Treats these scans alike. The last vacuum determines whether PostgreSQL also reads the table behind an index,
      // and statistics determine whether it sorts the row positions first.
      const kind = node['Node Type'].replace(/(Index Only|Bitmap Index) Scan/, 'Index Scan')
      const at = (node['Index Name'] ?? node['Relation Name'] ?? '').replace(/_\d{4}_\d{2}/, '')
      const line = `${kind} ${at}`.trim()
      if (kind !== 'Bitmap Heap Scan' && !into.plan.includes(line)) into.plan.push(line)
      for (const child of node.Plans ?? []) walk(child)
    }
    walk(root)
  }

  return {
    explain,
    /** Runs the code without explaining it. */
    run: <T>(code: (db: Db) => Promise<T>): Promise<T> => code(db),
    close: async (): Promise<void> => {
      await kysely.destroy()
      await client.end()
    },
  }
}
