// Tests that log readers cannot stop the service: if a reader pauses or disappears, log lines are dropped and counted.
import { connect } from 'node:net'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestDatabase, createScratchDatabase } from './kit/databases.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { seedUser } from '@manager/harness/seed.ts'

let database: TestDatabase
let admin: Person
beforeAll(async () => {
  database = await createScratchDatabase()
  const sql = new Pool({ connectionString: database.url, max: 1 })
  admin = await seedUser(sql, 'admin', 'administrator')
  await sql.end()
})
afterAll(() => database.drop())

const env = { SVC_SHUTDOWN_DRAIN_DELAY_MS: '0', SVC_AUDIT_CHECKPOINT_INTERVAL_MS: '100' }
// Node gives child processes a socket instead of a pipe. cat adds a real pipe, as under a supervisor.
const throughPipe = { shell: (run: string) => `${run} > >(cat)` }
const call = `GET /health HTTP/1.1\r\nhost: x\r\nx-request-id: ${'r'.repeat(64)}\r\n\r\n`

/** Pipelines `count` requests over one connection and returns how many were answered. */
function pipelined(service: ServiceProcess, count: number): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let [answered, sent, rest] = [0, 0, '']
    const send = (): void => {
      const more = Math.min(50, count - sent)
      sent += more
      socket.write(call.repeat(more))
    }
    const done = (): void => {
      socket.destroy()
      resolve(answered)
    }
    socket.setTimeout(10_000, done)
    socket.on('error', done)
    socket.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString('latin1')).split('HTTP/1.1 200')
      answered += parts.length - 1
      rest = (parts.at(-1) ?? '').slice(-12)
      if (answered >= count) done()
      else if (answered === sent) send()
    })
    send()
  })
}

async function flood(service: ServiceProcess, count: number): Promise<number> {
  let answered = 0
  for (let left = count; left > 0; left -= 4_000) {
    const shares = Array.from({ length: 4 }, () => pipelined(service, Math.min(left, 4_000) / 4))
    answered += (await Promise.all(shares)).reduce((sum, share) => sum + share, 0)
  }
  return answered
}

async function metric(service: ServiceProcess, name: string): Promise<number> {
  const text = await (await fetch(`${service.healthUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

const messages = (service: ServiceProcess) =>
  service.lines.map((line) => JSON.parse(line) as Record<string, unknown>)
const requestsIn = (service: ServiceProcess): number =>
  service.lines.filter((line) => line.includes(`"request_id":"${'r'.repeat(64)}"`)).length

async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const start = performance.now(); !(await condition());) {
    if (performance.now() - start > 15_000) throw new Error('timed out waiting for the condition')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('the log', () => {
  test.each([
    ['a pipe', throughPipe],
    ['a socket', {}],
  ])(
    '%s whose reader pauses holds up nobody; what is dropped is counted and told',
    async (_, to) => {
      const service = await startProcess(database.url, env, to)
      service.child.stdout?.pause()
      const sent = 32_000
      expect(await flood(service, sent)).toBe(sent)
      const dropped = await metric(service, 'svc_log_lines_dropped_total')
      expect(dropped).toBeGreaterThan(1_000)
      // The log lines of requests fill the buffer, but the line of an audit checkpoint still fits.
      const project = `mutation { createProject(input: {name: "x", slug: "p${service.child.pid}"}) { id } }`
      expect((await postQuery(service.url, headersOf(admin), project)).error).toBeNull()
      await waitUntil(async () => (await metric(service, 'svc_audit_checkpoint_seq')) > 0)

      service.child.stdout?.resume()
      await waitUntil(() => messages(service).some((line) => 'dropped' in line))
      service.child.kill('SIGTERM')
      expect(await service.exit).toBe(0)
      const told = messages(service).reduce((sum, line) => sum + Number(line['dropped'] ?? 0), 0)
      // The line of the mutation may be dropped too.
      expect([told >= dropped, told <= dropped + 1]).toEqual([true, true])
      const kept = requestsIn(service)
      expect([kept + told - sent >= 0, kept + told - sent <= 1]).toEqual([true, true])
      expect(messages(service).some((line) => 'checkpoint' in line)).toBe(true)
      // The memory of the buffer is bounded; the other lines were in the pipes.
      expect(service.lines.join('\n').length).toBeLessThan(8 * 1_048_576)
      process.stdout.write(`log sent=${sent} kept=${kept} dropped=${told}\n`)
    },
    90_000,
  )

  test.each([
    ['a pipe', throughPipe],
    ['a socket', {}],
  ])('to %s that is read is complete, to the last line', async (_, to) => {
    const service = await startProcess(database.url, env, to)
    expect(await flood(service, 4_000)).toBe(4_000)
    service.child.kill('SIGTERM')
    expect(await service.exit).toBe(0)
    expect(requestsIn(service)).toBe(4_000)
    const texts = messages(service).map((line) => line['msg'])
    expect([texts.includes('draining'), texts.at(-1)]).toEqual([true, 'stopped'])
    expect(messages(service).some((line) => 'dropped' in line)).toBe(false)
  })

  test('to a file is complete, to the last line', async () => {
    // Write the output to a file from the start. tail forwards the lines and exits with the process.
    const shell = (run: string): string =>
      `file=$(mktemp); tail -f --pid=$$ -n +1 "$file" & (sleep 1; rm "$file") & ${run} > "$file"`
    const service = await startProcess(database.url, env, { shell })
    expect(await flood(service, 4_000)).toBe(4_000)
    service.child.kill('SIGTERM')
    expect(await service.exit).toBe(0)
    expect(requestsIn(service)).toBe(4_000)
    expect(messages(service).at(-1)?.['msg']).toBe('stopped')
  })

  test('whose reader is gone costs its lines, not the process', async () => {
    const service = await startProcess(database.url, env, {
      shell: (run) => `${run} > >(grep -m 1 'manager is ready')`,
    })
    expect(await flood(service, 4_000)).toBe(4_000)
    await waitUntil(async () => (await metric(service, 'svc_log_lines_dropped_total')) >= 4_000)
    service.child.kill('SIGTERM')
    expect(await service.exit).toBe(0)
  })

  test('that nobody reads does not hold up the end', async () => {
    const service = await startProcess(database.url, env, throughPipe)
    service.child.stdout?.pause()
    expect(await flood(service, 8_000)).toBe(8_000)
    const ended = new Promise((resolve) => service.child.once('exit', resolve))
    const start = performance.now()
    service.child.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(performance.now() - start).toBeLessThan(10_000)
    service.child.stdout?.resume()
    await service.exit
  })
})
