// Tests the call log after crashes: it contains every call that got a response, and a call that cannot be logged is
// not forwarded.
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'

let gateway: Gateway
let endpoint: { id: string; path: string }
const children: ServiceProcess[] = []

beforeAll(async () => {
  gateway = await startGateway()
  endpoint = await gateway.endpoint({ url: `${gateway.upstream.url}/target` })
})
afterAll(async () => {
  for (const { child } of children) child.kill('SIGKILL')
  await gateway.close()
})

/** Resolves to true if a complete response with status 200 was received. */
function isAnswered(agent: Agent, url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${gateway.machine.token}` }
    const outgoing = request(url, { agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.complete && response.statusCode === 200))
      response.on('error', () => resolve(false))
    })
    outgoing.on('error', () => resolve(false))
    outgoing.end()
  })
}

/** Sends calls at a steady rate until stopped. `answered` contains the names of calls that got a response. */
function startCalls(url: string, perSecond: number, round: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const answered = new Set<string>()
  const inFlight: Promise<void>[] = []
  let sent = 0
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1_000) * perSecond
    for (; sent < due; sent++) {
      const name = `${round}-${sent}`
      const call = isAnswered(agent, `${url}${endpoint.path}?call=${name}`)
      inFlight.push(call.then((isDone) => void (isDone && answered.add(name))))
    }
  }, 5)
  const stop = async (): Promise<{ sent: number; answered: Set<string> }> => {
    clearInterval(timer)
    await Promise.all(inFlight)
    agent.destroy()
    return { sent, answered }
  }
  return { answered, stop }
}

/** Returns the calls without a row that records their response. */
async function withoutRow(answered: ReadonlySet<string>): Promise<string[]> {
  const { rows } = await gateway.service.sql.query<{ name: string }>(
    `select substring(target_url from 'call=(.*)$') as name from esb_audit_logs
     where endpoint_id = $1 and response_status = 200 and duration_ms is not null`,
    [endpoint.id],
  )
  const logged = new Set(rows.map(({ name }) => name))
  return [...answered].filter((name) => !logged.has(name))
}

describe('a process that is killed', () => {
  test('[esb-audit.before-answer] at 300 calls a second, several times: every answered call has its row', async () => {
    const kills = loadSize(3, 5)
    const all = new Set<string>()
    let sent = 0
    for (let round = 0; round < kills; round++) {
      const running = await startProcess(gateway.service.database.url)
      children.push(running)
      const { answered, stop } = startCalls(running.url, 300, `kill${round}`)
      await expect.poll(() => answered.size, { timeout: 30_000, interval: 7 }).toBeGreaterThan(150)
      running.child.kill('SIGKILL')
      await running.exit
      const result = await stop()
      sent += result.sent
      for (const name of result.answered) all.add(name)
    }
    const missing = await withoutRow(all)
    const { rows } = await gateway.service.sql.query<{ started: number; ended: number }>(
      `select count(*)::int as started, count(duration_ms)::int as ended from esb_audit_logs
       where endpoint_id = $1 and target_url like '%call=kill%'`,
      [endpoint.id],
    )
    const { started = 0, ended = 0 } = rows[0] ?? {}
    process.stdout.write(
      `killed ${kills} times: sent=${sent} answered=${all.size} answered_without_row=${missing.length} ` +
        `rows_without_answer=${started - all.size} rows_without_end=${started - ended}\n`,
    )
    expect(missing).toEqual([])
  }, 60_000)

  test('the check notices a row that is missing', async () => {
    const { answered, stop } = startCalls(gateway.service.url, 50, 'planted')
    await expect.poll(() => answered.size, { timeout: 30_000 }).toBeGreaterThan(3)
    await stop()
    expect(await withoutRow(answered)).toEqual([])
    const [victim = ''] = answered
    await gateway.service.sql.query('delete from esb_audit_logs where target_url like $1', [
      `%call=${victim}`,
    ])
    expect(await withoutRow(answered)).toEqual([victim])
  })
})

describe('a log that cannot be written', () => {
  const forbidRows = (when: string, condition = 'true') =>
    gateway.service.sql.query(`
      create or replace function refuse_row() returns trigger language plpgsql as
        $$ begin if ${condition} then raise exception 'no more rows'; end if; return new; end $$;
      create or replace trigger refuse_row before ${when} on esb_audit_logs for each row execute function refuse_row()`)
  const allowRows = () => gateway.service.sql.query('drop trigger refuse_row on esb_audit_logs')

  test('[esb-audit.fail-closed] calls answer 503 with Retry-After, and the upstream hears of none', async () => {
    expect((await gateway.call(endpoint.path)).status).toBe(200)
    await forbidRows('insert')
    gateway.upstream.received.length = 0
    try {
      const answers = await Promise.all(Array.from({ length: 50 }, () => gateway.call(endpoint.path)))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
      expect(answers.every(({ headers }) => Number(headers.get('retry-after')) >= 1)).toBe(true)
      expect((await answers[0]?.json()) as object).toMatchObject({
        error: 'the call cannot be logged, so it is not forwarded; try again',
      })
      expect(gateway.upstream.received).toHaveLength(0)
    } finally {
      await allowRows()
    }
    expect((await gateway.call(endpoint.path)).status).toBe(200)
  })

  test('[esb-audit.fail-closed] the same when the right to insert is taken away', async () => {
    const role = `esb_role_${process.pid}`
    await gateway.service.sql.query(`create role ${role} login;
      grant all on all tables in schema public, jobs to ${role}; grant usage on schema public, jobs to ${role}`)
    const url = new URL(gateway.service.database.url)
    url.username = role
    const running = await startProcess(url.href)
    children.push(running)
    const call = () =>
      fetch(`${running.url}${endpoint.path}`, {
        headers: { authorization: `Bearer ${gateway.machine.token}` },
      })
    try {
      expect((await call()).status).toBe(200)
      await gateway.service.sql.query(`revoke insert on esb_audit_logs from ${role}`)
      gateway.upstream.received.length = 0
      expect((await call()).status).toBe(503)
      expect(gateway.upstream.received).toHaveLength(0)
    } finally {
      running.child.kill('SIGKILL')
      await running.exit
      await gateway.service.sql.query(`drop owned by ${role}; drop role ${role}`)
    }
  })

  test('an end that cannot be written withholds the answer', async () => {
    await forbidRows('update')
    try {
      const answer = await gateway.call(endpoint.path)
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('1')
    } finally {
      await allowRows()
    }
  })

  test('a row that the database refuses takes no other with it', async () => {
    await forbidRows('insert', "new.target_url like '%poison%'")
    try {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          gateway.call(`${endpoint.path}?${n === 7 ? 'poison' : `n=${n}`}`),
        ),
      )
      const statuses = answers.map(({ status }) => status)
      expect(statuses.filter((status) => status === 503)).toHaveLength(1)
      expect(statuses[7]).toBe(503)
      expect(statuses.filter((status) => status === 200)).toHaveLength(19)
    } finally {
      await allowRows()
    }
  })

  test('a month without a partition gets one when it is needed', async () => {
    const { rows } = await gateway.service.sql.query<{ name: string }>(
      "select 'esb_audit_logs_' || to_char(now() at time zone 'UTC', 'YYYY_MM') as name",
    )
    await gateway.service.sql.query(`drop table ${rows[0]?.name}`)
    expect((await gateway.call(endpoint.path)).status).toBe(200)
    expect(await gateway.logged(endpoint.id)).toHaveLength(1)
  })

  test('a beginning that the database has forgotten is written again with the end', async () => {
    gateway.upstream.answer((_request, response) => {
      void gateway.service.sql
        .query('delete from esb_audit_logs where endpoint_id = $1', [endpoint.id])
        .then(() => response.end('{}'))
    })
    expect((await gateway.call(endpoint.path)).status).toBe(200)
    const rows = await gateway.logged(endpoint.id)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ response_status: 200, method: 'GET', path: endpoint.path })
    gateway.upstream.answer((_request, response) => void response.end('{}'))
  })
})
