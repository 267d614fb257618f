// These tests cover backends under load: concurrent registrations of one backend, 1,000 heartbeats within a second, and
// an application with very many tenants.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent, type IncomingMessage, get, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callbackUrl, register } from '@manager/harness/backends.ts'
import { runSchedule } from '../../../test/kit/schedules.ts'
import { bearer } from '@manager/harness/credentials.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { planOf } from '../../../test/kit/plans.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { useProject } from '../../../test/kit/project.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { createEncryptionRing } from '../../platform/secrets/keys.ts'
import { createSecrets } from '../../platform/secrets/secrets.ts'
import { getTokenLocation } from './sealed-secrets.pure.ts'

const { service, project } = useProject()
const machine = () => seedMachineUser(service.sql, project)

/** Sends fifty concurrent registrations. Returns their tokens and the single stored token. */
async function registerAtOnce(): Promise<{ tokens: string[]; stored: string }> {
  const { id: machineUserId, token } = await machine()
  const body = { application_id: project.applicationId, callback_url: callbackUrl }
  const answers = await Promise.all(Array.from({ length: 50 }, () => register(service, token, body)))
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  expect(statuses).toEqual([...Array.from({ length: 49 }, () => 200), 201])
  const { rows } = await service.sql.query<{ id: string; callback_token: Buffer }>(
    'select id, callback_token from backend_registrations where machine_user_id = $1',
    [machineUserId],
  )
  expect(rows).toHaveLength(1)
  const [{ id, callback_token }] = rows as [{ id: string; callback_token: Buffer }]
  expect(new Set(answers.map((answer) => answer.body.registered_id))).toEqual(new Set([id]))
  const secrets = createSecrets(createEncryptionRing(service.config.masterKey, service.config.encryptionKeys))
  return {
    tokens: answers.map((answer) => answer.body.token as string),
    stored: secrets.open(callback_token, getTokenLocation(id)),
  }
}

test('[backends.register-again] of fifty registrations at once one is made, and its token is one that was answered', async () => {
  // The first round opens the connections, so that later rounds run concurrently.
  for (let round = 0; round < loadSize(3, 5); round++) {
    const { tokens, stored } = await registerAtOnce()
    expect(new Set(tokens).size).toBe(50)
    expect(tokens).toContain(stored)
  }
})

/**
 * Inserts `count` registrations of one machine user, each for a different application, and returns their ids.
 */
async function seedBackends(machineUserId: string, count: number): Promise<string[]> {
  const { rows } = await service.sql.query<{ id: string }>(
    `with made as (
       insert into applications (id, project_id, name, slug)
       select gen_random_uuid(), $2, 'many', $4 || n from generate_series(1, $5::int) n returning id
     )
     insert into backend_registrations (id, project_id, application_id, environment_id, machine_user_id, callback_url,
       callback_token, version)
     select gen_random_uuid(), $2, id, $3, $1, 'https://backend.example.com/', ''::bytea, '' from made returning id`,
    [machineUserId, project.id, project.environmentId, `many-${machineUserId.slice(0, 8)}-`, count],
  )
  return rows.map(({ id }) => id)
}

describe('heartbeats', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  afterAll(() => agent.destroy())
  const beat = (token: string, id: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const url = `${service.url}/api/machine/backend/${id}/heartbeat`
      const outgoing = request(url, { method: 'PUT', agent, headers: bearer(token) }, (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      })
      outgoing.on('error', reject)
      outgoing.end()
    })

  test('[backends.heartbeat] a thousand within a second cost five statements at most', async () => {
    const { id: machineUserId, token } = await machine()
    const ids = await seedBackends(machineUserId, 1_000)
    await service.sql.query("update backend_registrations set last_heartbeat = now() - interval '1 minute'")
    service.statements.length = 0
    const began = performance.now()
    const waves: Promise<number[]>[] = []
    for (let from = 0; from < ids.length; from += 50) {
      waves.push(Promise.all(ids.slice(from, from + 50).map((id) => beat(token, id))))
      await new Promise((resolve) => setTimeout(resolve, 40))
    }
    const statuses = (await Promise.all(waves)).flat()
    const elapsedMs = performance.now() - began
    expect(new Set(statuses)).toEqual(new Set([200]))
    const updates = service.statements.filter((text) => text.includes('update backend_registrations'))
    // On a busy machine, the heartbeats can take more than a second.
    expect(updates.length).toBeLessThanOrEqual(Math.max(5, 1 + Math.ceil(elapsedMs / 300)))
    const { rowCount } = await service.sql.query(
      "select from backend_registrations where machine_user_id = $1 and last_heartbeat < now() - interval '50 seconds'",
      [machineUserId],
    )
    expect(rowCount).toBe(0)
  })

  test('those who were silent are found without reading the others', async () => {
    const { id: machineUserId } = await machine()
    await seedBackends(machineUserId, loadSize(5_000, 20_000))
    await service.sql.query('analyze backend_registrations')
    service.statements.length = 0
    await runSchedule(service, 'backends-reap')
    const reap = service.statements.find((text) => text.includes('delete from')) ?? ''
    const { rows } = await service.sql.query<{ 'QUERY PLAN': string }>(
      `explain ${reap.replace(/\$[12]/g, '600').replaceAll('$3', '500')}`,
    )
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toContain('Index Scan using backend_registrations_heartbeat_idx')
    expect(plan).not.toContain('Seq Scan on backend_registrations')
  })
})

describe('an application with a hundred thousand tenants', { timeout: 120_000 }, () => {
  // The default run uses this number too, because a response must be larger than the kernel socket buffers.
  const tenants = 100_000
  const applicationId = randomUUID()
  let running: ServiceProcess
  let token: string
  beforeAll(async () => {
    token = (await machine()).token
    await service.sql.query(
      "insert into applications (id, project_id, name, slug) values ($1, $2, 'all', 'all')",
      [applicationId, project.id],
    )
    // Triggers and constraint checks are disabled because they would take most of the time.
    const client = await service.sql.connect()
    await client.query('set session_replication_role = replica')
    await client.query(
      `insert into tenants (id, project_id, name, slug)
       select gen_random_uuid(), $1, rpad('tenant ' || n, 100, 'x'), 'all-' || n from generate_series(1, $2::int) n`,
      [project.id, tenants],
    )
    await client.query(
      `insert into tenant2applications (id, project_id, tenant_id, application_id, enabled)
       select gen_random_uuid(), project_id, id, $1, true from tenants where slug like 'all-%'`,
      [applicationId],
    )
    client.release(true)
    await service.sql.query('analyze')
    running = await startProcess(service.database.url)
  }, 120_000)
  afterAll(async () => {
    running.child.kill('SIGKILL')
    await running.exit
  })
  const open = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const url = `${running.url}/api/machine/application/${applicationId}/tenants`
      get(url, { agent: false, headers: bearer(token) }, resolve).on('error', reject)
    })
  const textOf = async (response: IncomingMessage): Promise<string> => {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString()
  }
  const residentBytes = (): number =>
    1_024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${running.child.pid}/status`, 'utf8'))?.[1])

  test('[backends.tenants] gets all of them, and callers who do not read them cost no memory', async () => {
    const text = await textOf(await open())
    const { tenants: listed } = JSON.parse(text) as { tenants: { id: string }[] }
    expect(new Set(listed.map(({ id }) => id)).size).toBe(tenants)
    const before = residentBytes()
    const unread = await Promise.all(Array.from({ length: 40 }, () => open()))
    let peak = 0
    for (let n = 0; n < 30; n++) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      peak = Math.max(peak, residentBytes())
    }
    for (const response of unread) response.destroy()
    // Total size of all complete responses. The process keeps one or two pages per response in memory. The rest is
    // garbage that has not been collected yet.
    expect(peak - before).toBeLessThan((unread.length * text.length) / 2)
    expect(text.length).toBeGreaterThan(15_000_000)
  })

  test('reads them page by page from an index, in its order', async () => {
    const response = await fetch(`${service.url}/api/machine/application/${applicationId}/tenants`, {
      headers: bearer(token),
    })
    await response.body?.cancel()
    const page = service.statements.find((text) => text.includes('from tenant2applications')) ?? ''
    expect(await planOf(service.database.url, page)).toEqual([
      'Limit',
      ' Nested Loop',
      '  Index Scan tenant2applications tenant2applications_enabled_idx',
      '  Index Scan tenants tenants_pkey',
    ])
  })
})
