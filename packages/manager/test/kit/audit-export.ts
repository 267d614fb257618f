// Sends audit export requests.
import { createHash } from 'node:crypto'
import { formatCanonicalJson } from '../../src/platform/audit/entry.ts'
import { readSealedHeads } from '../../src/platform/audit/sealed-heads.ts'
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

/** Returns the sealed heads of all chains as JSON, for the verification of an export. */
export const formatSealedHeads = async ({ world }: Pick<TestApp, 'world'>): Promise<string> =>
  JSON.stringify(await readSealedHeads(world.database.db, checkpointKey))

/** Returns the SHA-256 hash of a value in canonical JSON, as hex. */
export const hashCanonicalJson = (value: Parameters<typeof formatCanonicalJson>[0]): string =>
  createHash('sha256').update(formatCanonicalJson(value)).digest('hex')

/** Sends one request as a person whom the proxy has authenticated. */
export const askExport = (
  service: Pick<TestApp, 'url'>,
  person: Person,
  query: Record<string, string> = {},
) => fetch(`${service.url}/api/audit/export?${new URLSearchParams(query)}`, { headers: headersOf(person) })

export const exportJson = async (
  service: Pick<TestApp, 'url'>,
  person: Person,
  query: Record<string, string> = {},
): Promise<JsonExport> => (await (await askExport(service, person, query)).json()) as JsonExport

/** Returns the lines of an NDJSON export, including the signed last line. */
export async function exportLines(
  service: TestApp,
  filters: { project_id?: string; action?: string; limit?: string; cursor?: string } = {},
): Promise<string[]> {
  const admin = await seedUser(service.sql, 'exporter', 'administrator')
  const response = await askExport(service, admin, { format: 'ndjson', ...filters })
  return (await response.text()).trimEnd().split('\n')
}

/** Builds the signed last line that matches the given lines. */
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
    .sign(createHash('sha256').update(formatCanonicalJson(content)).digest())
    .toString('base64')
  return JSON.stringify({ export: { ...content, signature } })
}
