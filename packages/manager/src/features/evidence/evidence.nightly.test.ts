// These tests read very many evidence rows. Memory use does not grow with the number of rows, and a
// disconnect releases all resources.
import { readFileSync } from 'node:fs'
import { type IncomingMessage, get } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { runEvidence } from '../../../test/kit/evidence.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin, project } = useProject()
let server: ServiceProcess
// The service itself needs about 100 MiB. 100,000 rows as objects, or the response as one string, would not
// fit in the rest.
const heapMb = 180
beforeAll(async () => {
  await service.sql.query('create index on audit_logs using brin (created_at)')
  await service.sql.query(
    `insert into audit_logs (chain_id, seq, id, entity_type, entity_id, action, description, metadata, changes, form,
       principal_type, principal_id, user_id, ip_address, user_agent, created_at, prev_hash, hash)
     select $1, n, gen_random_uuid(), 'endpoint', gen_random_uuid()::text, 'update', 'endpoint orders updated', '{}',
       jsonb_build_object('url', jsonb_build_object('before', repeat('a', 100), 'after', repeat('b', 100))), 2,
       'user', $2::text, $2::uuid, '192.0.2.1', 'a browser', now() - n * interval '1 second', sha256('a'), sha256('b')
     from generate_series(1, 120000) n`,
    [project.id, admin.id],
  )
  await service.sql.query('analyze audit_logs')
  server = await startProcess(service.database.url, {
    SVC_DATABASE_REPORT_POOL_SIZE: '2',
    NODE_OPTIONS: `--max-old-space-size=${heapMb} --max-semi-space-size=8`,
  })
}, 120_000)
afterAll(async () => {
  server.child.kill()
  await server.exit
})

const url = (name: string): string => `${server.url}/api/audit/evidence/${name}`
const open = (name: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get(url(name), { headers: headersOf(admin), agent: false }, resolve).on('error', reject)
  })
const rssMb = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1]) / 1_024

/** Reads the whole response, but keeps only its size and its end. Calls `seen` for each chunk. */
async function readAll(response: IncomingMessage, seen: () => void): Promise<{ bytes: number; end: string }> {
  let [bytes, end] = [0, '']
  for await (const chunk of response) {
    const text = chunk as Buffer
    bytes += text.length
    end = (end + text.subarray(-1_000).toString()).slice(-1_000)
    seen()
  }
  return { bytes, end }
}

describe('very many rows of evidence', () => {
  test('[evidence.window] 100,000 rows are sent without being held, and truncated tells that there are more', async () => {
    await readAll(await open('trigger-changes'), () => undefined)
    const peaks: number[] = []
    for (let run = 0; run < 2; run++) {
      const before = rssMb()
      let peak = before
      const started = performance.now()
      const response = await open('endpoint-changes')
      const first = ((performance.now() - started) / 1_000).toFixed(1)
      const { bytes, end } = await readAll(response, () => (peak = Math.max(peak, rssMb())))
      const seconds = ((performance.now() - started) / 1_000).toFixed(1)
      process.stdout.write(
        `evidence rows=100000 body=${(bytes / 1_048_576).toFixed(0)} MiB in ${seconds} s, begun after ${first} s, rss ${before.toFixed(0)} -> ${peak.toFixed(0)} MiB\n`,
      )
      expect(end).toContain('"row_count":100000,"truncated":true,"chain":{')
      expect(bytes).toBeGreaterThan(70 * 1_048_576)
      peaks.push(peak - before)
    }
    expect(Math.max(...peaks)).toBeLessThan(120)
  }, 120_000)

  test('whoever leaves in the middle frees the connection to the database; meanwhile others are told to wait', async () => {
    for (let i = 0; i < 3; i++) {
      const response = await open('endpoint-changes')
      response.pause()
      const busy = await runEvidence(server, admin, 'lockouts')
      expect([busy.status, busy.body.code, busy.headers.get('retry-after')]).toEqual([
        503,
        'unavailable',
        '1',
      ])
      response.destroy()
      await expect
        .poll(async () => (await runEvidence(server, admin, 'lockouts')).status, { timeout: 20_000 })
        .toBe(200)
    }
    const { rows } = await service.sql.query(
      "select count(*)::int as open from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'",
    )
    expect(rows).toEqual([{ open: 0 }])
  }, 90_000)

  test('what fails in the middle cuts the connection: it never looks whole', async () => {
    const response = await open('endpoint-changes')
    response.pause()
    await service.sql.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
         and query like 'fetch%' and pid <> pg_backend_pid()`,
    )
    await expect(readAll(response, () => undefined)).rejects.toThrow(/aborted/)
    await expect
      .poll(async () => (await runEvidence(server, admin, 'lockouts')).status, { timeout: 20_000 })
      .toBe(200)
  }, 60_000)
})
