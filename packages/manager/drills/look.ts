// What drills look at afterwards: what was acknowledged, and the audit trail.
import type { Pool } from 'pg'
import { runManagerProcess } from '../test/kit/process.ts'
import type { Acknowledged } from './load.ts'

const found: Record<Acknowledged['kind'], string> = {
  write: 'select id::text as id from tenants',
  emit: 'select n.id::text as id from notifications n where exists (select from notification_recipients r where r.notification_id = n.id)',
  upload: 'select version as id from pilet_packages',
}

/** Those that are not in the database. */
export async function findMissing(sql: Pool, acknowledged: readonly Acknowledged[]): Promise<Acknowledged[]> {
  const missing: Acknowledged[] = []
  for (const kind of ['write', 'emit', 'upload'] as const) {
    const { rows } = await sql.query<{ id: string }>(found[kind])
    const stored = new Set(rows.map(({ id }) => id))
    missing.push(...acknowledged.filter((one) => one.kind === kind && !stored.has(one.id)))
  }
  return missing
}

export type AuditSeen = { rows: number; checkpoints: number; problems: string[] }

/** What `manager audit verify` says; with a log of the service, also of the checkpoints in it. */
export async function readAudit(env: Record<string, string>, log?: string): Promise<AuditSeen> {
  const args = ['audit', 'verify', ...(log === undefined ? [] : ['--checkpoints', log])]
  const { code, stdout, stderr } = await runManagerProcess(args, env)
  const [, rows = '0', checkpoints = '0'] =
    /audit trail \w+: (\d+) rows in \d+ chains, (\d+) checkpoints/.exec(stdout) ?? []
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('BROKEN'))
  const problems = code === 0 ? [] : lines.length > 0 ? lines : [`it ended with ${code}: ${stderr.trim()}`]
  return { rows: Number(rows), checkpoints: Number(checkpoints), problems }
}
