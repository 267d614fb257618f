// Reads audit rows from the database.
import type { TestApp } from './app.ts'

export type Row = {
  chain_id: string
  seq: string
  entity_type: string
  entity_id: string
  action: string
  description: string
  metadata: unknown
  changes: Record<string, { before: unknown; after: unknown }>
  user_id: string | null
  ip_address: string
  user_agent: string
  id: string
  created_at: Date
  prev_hash: Buffer
  hash: Buffer
}

/** Returns the rows of a chain in order. */
export const chainRows = async (service: TestApp, chainId: string): Promise<Row[]> =>
  (await service.sql.query<Row>('select * from audit_logs where chain_id = $1 order by seq', [chainId])).rows
