// The export of the audit trail as callers ask for it.
import { createHash } from 'node:crypto'
import { canonicalJson } from '../../src/platform/audit/entry.ts'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import type { TestApp } from './app.ts'
import { seedUser } from '@manager/harness/seed.ts'
import { checkpointKey } from './trail.ts'

export type ExportedEntry = {
  chain_id: string
  seq: number
  id: string
  entity_type: string
  entity_id: string
  action: string
  description: string
  user_id: string | null
  created_at: string
  prev_hash: string
  hash: string
}
export type JsonExport = {
  entries: ExportedEntry[]
  count: number
  next_cursor: string | null
  chain: { status: string; entries: number }
  error?: string
}

/** One request, as a person who came through the proxy. */
export const askExport = (
  service: Pick<TestApp, 'url'>,
  person: Person,
  query: Record<string, string> = {},
) => fetch(`${service.url}/api/audit/export?${new URLSearchParams(query)}`, { headers: headersOf(person) })

/** The JSON of an export. */
export const exportJson = async (
  service: Pick<TestApp, 'url'>,
  person: Person,
  query: Record<string, string> = {},
): Promise<JsonExport> => (await (await askExport(service, person, query)).json()) as JsonExport

/** The records of a CSV text, cells unquoted, by RFC 4180. */
export function parseCsv(text: string): string[][] {
  const records: string[][] = []
  let record: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text)
    if (match === null) throw new Error('not CSV')
    record.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === ',') continue
    records.push(record)
    record = []
  }
  return records
}

/** The lines of an NDJSON export, the last one included. */
export async function exportLines(
  service: TestApp,
  filters: { project_id?: string; action?: string; limit?: string; cursor?: string } = {},
): Promise<string[]> {
  const admin = await seedUser(service.sql, 'exporter', 'administrator')
  const response = await askExport(service, admin, { format: 'ndjson', ...filters })
  return (await response.text()).trimEnd().split('\n')
}

/** The last line as it would have to be for the lines before it. */
export function endLine(lines: readonly string[], end: Record<string, unknown>): string {
  const digest = createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex')
  const content = {
    ...end,
    count: lines.length,
    digest,
    keyId: checkpointKey.keyId,
    publicKey: checkpointKey.publicKey.toString('base64'),
  }
  const signature = checkpointKey
    .sign(createHash('sha256').update(canonicalJson(content)).digest())
    .toString('base64')
  return JSON.stringify({ export: { ...content, signature } })
}
