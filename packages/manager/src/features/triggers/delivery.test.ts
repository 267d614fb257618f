// These tests cover the callbacks that a backend receives: a tick plans a run, and workers deliver it.
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TriggerScene, startTriggerScene, thisMinute } from '../../../test/kit/callbacks.ts'
import { seedProject } from '@manager/harness/seed.ts'
import { startUpstream } from '../../../test/kit/upstream.ts'

let scene: TriggerScene
beforeAll(async () => {
  scene = await startTriggerScene()
})
afterAll(() => scene.close())
beforeEach(() => scene.backend.reset())
afterEach(async () => {
  for (const table of ['triggers', 'trigger_runs', 'queued_jobs', 'backend_registrations'])
    await scene.service.sql.query(`delete from ${table}`)
})

/** Creates a due trigger, plans it, and delivers it once. */
async function fire(input: Record<string, unknown> = {}) {
  const trigger = await scene.createTrigger(input)
  await scene.makeDue(trigger.id)
  await scene.plan()
  await scene.deliver()
  return trigger
}
/** Delivers waiting attempts until none follow. */
async function exhaust(): Promise<number[][]> {
  const waits: number[][] = []
  for (let next = await scene.waits(); next.length > 0; next = await scene.waits()) {
    waits.push(next)
    await scene.skipWaits()
    await scene.deliver()
  }
  return waits
}
const answerWith = (status: number, headers: Record<string, string> = {}) =>
  scene.backend.answer((_request, response) => response.writeHead(status, headers).end())

describe('a callback', () => {
  test('[triggers.request] is a POST to the callback URL with the callback token, and follows no redirect', async () => {
    const { token } = await scene.register(`${scene.backend.url}/callbacks/night?x=1`)
    answerWith(302, { location: `${scene.backend.url}/elsewhere` })
    const { id } = await fire()
    expect(scene.backend.received).toHaveLength(1)
    const [request] = scene.backend.received
    expect(request).toMatchObject({ method: 'POST', url: '/callbacks/night?x=1' })
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    })
    expect(await scene.runsOf(id)).toMatchObject([
      { outcome: 'failed', response_status: 302, failure: 'the backend returned 302', attempts: 1 },
    ])
  })

  test('[triggers.body] has exactly the five fields', async () => {
    await scene.register()
    const { id } = await fire({ name: 'Täglich', cronExpression: '*/1 * * * *', runKey: 'k' })
    const [run] = await scene.runsOf(id)
    expect(JSON.parse(String(scene.backend.received[0]?.body))).toEqual({
      trigger_id: id,
      trigger_name: 'Täglich',
      cron_expression: '*/1 * * * *',
      run_key: 'k',
      executed_at: run?.executed_at?.toISOString(),
    })
    expect(run).toMatchObject({ outcome: 'delivered', response_status: 200, failure: null, attempts: 1 })
  })

  test('[triggers.webhook-headers] [triggers.executed-at] names run, time, planned instant and attempt; over retries run, body and executed_at stay', async () => {
    await scene.register()
    answerWith(500)
    const { id } = await fire()
    await scene.service.sql.query(`update trigger_runs set executed_at = executed_at - interval '90 seconds'`)
    await scene.updateTrigger(id, { name: 'renamed meanwhile' })
    await exhaust()
    const [run] = await scene.runsOf(id)
    const { received } = scene.backend
    expect(received.map(({ headers }) => headers['x-svc-attempt'])).toEqual(['1', '2', '3', '4'])
    for (const { headers } of received) {
      expect(headers).toMatchObject({
        'webhook-id': run?.id,
        'x-svc-scheduled-at': run?.scheduled_at.toISOString(),
      })
      expect(Number(headers['webhook-timestamp'])).toBeGreaterThan(Date.now() / 1_000 - 300)
    }
    const bodies = received.map(({ body }) => String(body))
    expect(new Set(bodies.slice(1)).size).toBe(1)
    expect(JSON.parse(bodies[3] as string)).toMatchObject({
      executed_at: run?.executed_at?.toISOString(),
      trigger_name: 'nightly',
    })
    expect(run).toMatchObject({ outcome: 'failed', attempts: 4, failure: 'the backend returned 500' })
  })

  test('[triggers.webhook-signature] verifies with a library of Standard Webhooks and the callback token, and with no other', async () => {
    const { token, signingSecret } = await scene.register()
    await fire()
    const [request] = scene.backend.received
    const headers = request?.headers as Record<string, string>
    const verifiedBy = (
      key: string,
      signature = headers['webhook-signature'],
      text = String(request?.body),
    ) => new Webhook(key).verify(text, { ...headers, 'webhook-signature': String(signature) })
    const [first, second, ...more] = headers['webhook-signature']?.split(' ') ?? []
    expect([verifiedBy(signingSecret, first), verifiedBy(token, second), more]).toMatchObject([
      { run_key: 'night' },
      { run_key: 'night' },
      [],
    ])
    for (const key of [signingSecret, token]) {
      expect(verifiedBy(key)).toMatchObject({ run_key: 'night' })
      expect(() => verifiedBy(key, headers['webhook-signature'], `${String(request?.body)} `)).toThrow()
    }
    expect(() => verifiedBy(token, first)).toThrow()
    expect(() => verifiedBy(`whsec_${Buffer.alloc(32).toString('base64')}`)).toThrow()
    // An attacker who reads the request cannot sign a different request.
    expect(JSON.stringify([headers, String(request?.body)])).not.toContain(signingSecret)
  })

  test('[triggers.webhook-signature] of a registration without a signing secret is signed by the callback token alone', async () => {
    const { id, token } = await scene.register()
    await scene.service.sql.query('update backend_registrations set signing_secret = null where id = $1', [
      id,
    ])
    await fire()
    const [request] = scene.backend.received
    const headers = request?.headers as Record<string, string>
    expect(headers['webhook-signature']).toMatch(/^v1,[\w+/]{43}=$/)
    expect(new Webhook(token).verify(String(request?.body), headers)).toMatchObject({ run_key: 'night' })
  })

  test('an answer of any length counts by its status', async () => {
    await scene.register()
    scene.backend.answer((_request, response) => response.end(Buffer.alloc(200_000)))
    const { id } = await fire()
    expect(await scene.runsOf(id)).toMatchObject([{ outcome: 'delivered', response_status: 200 }])
  })
})

describe('retries', () => {
  test('[triggers.retries] network errors, 408, 425, 429 and 5xx are tried again after 5, 30 and 120 seconds, each +-20 %', async () => {
    await scene.register()
    for (const answer of [408, 425, 429, 500, 503, 'reset'] as const) {
      if (answer === 'reset') scene.backend.answer((request) => request.socket.destroy())
      else answerWith(answer)
      scene.backend.received.length = 0
      const { id } = await fire()
      const waits = await exhaust()
      expect(waits.map((wait) => wait.length)).toEqual([1, 1, 1])
      for (const [index, seconds] of [5, 30, 120].entries()) {
        expect(waits[index]?.[0]).toBeGreaterThanOrEqual(seconds * 0.8)
        expect(waits[index]?.[0]).toBeLessThanOrEqual(seconds * 1.2)
      }
      expect(scene.backend.received).toHaveLength(4)
      const [run] = await scene.runsOf(id)
      expect(run).toMatchObject({ outcome: 'failed', attempts: 4 })
      expect(run?.failure).toBe(
        answer === 'reset'
          ? 'the upstream response is incomplete or invalid'
          : `the backend returned ${answer}`,
      )
      await scene.service.sql.query('delete from triggers')
    }
  })

  test('[triggers.retry-limits] Retry-After of a 429 is waited for, 300 seconds at most; what is not retried is final', async () => {
    await scene.register()
    for (const [asked, waited, spread] of [
      ['7', 7, 0],
      ['100000', 300, 0],
      ['soon', 5, 1],
    ] as const) {
      answerWith(429, { 'retry-after': asked })
      await fire()
      const [wait] = await scene.waits()
      expect(Math.abs((wait as number) - waited)).toBeLessThanOrEqual(spread)
      await scene.service.sql.query('delete from queued_jobs')
      await scene.service.sql.query('delete from triggers')
    }
    answerWith(503, { 'retry-after': '250' })
    await fire()
    expect((await scene.waits())[0]).toBeLessThanOrEqual(6)
    await scene.service.sql.query('delete from queued_jobs')
    for (const final of [301, 400, 401, 404, 410, 422]) {
      answerWith(final)
      const { id } = await fire()
      expect(await scene.waits()).toEqual([])
      expect(await scene.runsOf(id)).toMatchObject([
        { outcome: 'failed', response_status: final, attempts: 1 },
      ])
    }
  })

  test('a retry that succeeds ends the run', async () => {
    await scene.register()
    answerWith(500)
    const { id } = await fire()
    expect(await scene.runsOf(id)).toMatchObject([{ outcome: 'pending', attempts: 1, response_status: 500 }])
    answerWith(204)
    expect(await exhaust()).toHaveLength(1)
    expect(await scene.runsOf(id)).toMatchObject([
      { outcome: 'delivered', attempts: 2, response_status: 204, failure: null },
    ])
  })

  test('an attempt that gets no answer in time is tried again', async () => {
    const own = await startTriggerScene({ env: { SVC_TRIGGERS_ATTEMPT_TIMEOUT: '1s' } })
    try {
      await own.register()
      own.backend.answer(() => undefined)
      const { id } = await own.createTrigger()
      await own.makeDue(id)
      await own.plan()
      await own.deliver()
      expect(await own.runsOf(id)).toMatchObject([{ outcome: 'pending', failure: 'the upstream timed out' }])
    } finally {
      await own.close()
    }
  })
})

describe('which backend is called', () => {
  test('[triggers.freshest-first] the live one with the newest heartbeat; if it cannot be connected, the next newest', async () => {
    const [first, second] = [await startUpstream(), await startUpstream()]
    try {
      await scene.register(`${first.url}/first`)
      await scene.register(`${second.url}/second`)
      const old = await scene.register(`${scene.backend.url}/old`)
      await scene.silence(old, 60)
      const { id } = await fire()
      expect([first.received.length, second.received.length, scene.backend.received.length]).toEqual([
        0, 1, 0,
      ])
      await second.close()
      await scene.makeDue(id, new Date(thisMinute().getTime() - 60_000))
      await scene.service.sql.query('delete from trigger_runs')
      await scene.plan()
      await scene.deliver()
      expect([first.received.length, scene.backend.received.length]).toEqual([1, 0])
      expect(await scene.runsOf(id)).toMatchObject([{}, { outcome: 'delivered', attempts: 1 }])
    } finally {
      await first.close()
      await second.close().catch(() => undefined)
    }
  })

  test('a backend that may have received the request is not followed by another', async () => {
    const first = await startUpstream()
    try {
      const old = await scene.register(`${scene.backend.url}/old`)
      await scene.silence(old, 60)
      await scene.register(`${first.url}/first`)
      first.answer((request) => request.socket.destroy())
      const { id } = await fire()
      expect([first.received.length, scene.backend.received.length]).toEqual([1, 0])
      expect(await scene.runsOf(id)).toMatchObject([{ outcome: 'pending', attempts: 1 }])
    } finally {
      await first.close()
    }
  })

  test('[backends.unregister] one that has unregistered is called no more', async () => {
    const { id: registration, machine } = await scene.register()
    answerWith(500)
    const { id } = await fire()
    const { status } = await fetch(`${scene.service.url}/api/machine/backend/${registration}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${machine.token}` },
    })
    expect(status).toBe(200)
    await exhaust()
    expect(scene.backend.received).toHaveLength(1)
    expect(await scene.runsOf(id)).toMatchObject([{ outcome: 'failed', failure: 'no backend is live' }])
  })
})

describe('what happens meanwhile', () => {
  test('a backend of a disabled machine user is not called', async () => {
    const { machine } = await scene.register()
    await scene.service.sql.query('update machine_users set enabled = false where id = $1', [machine.id])
    const { id } = await fire()
    expect(scene.backend.received).toEqual([])
    expect(await scene.runsOf(id)).toMatchObject([{ outcome: 'skipped_no_backend' }])
  })

  test('a backend that unregisters while another one is tried first is not called', async () => {
    const other = await scene.register(`${scene.backend.url}/other`)
    await scene.silence(other, 60)
    await scene.register('http://127.0.0.1:1/nobody')
    const { id } = await scene.createTrigger()
    await scene.makeDue(id)
    await scene.plan()
    // Unregisters the backend as soon as the attempt has started and the targets are known.
    await scene.service.sql.query(`
      create function forget() returns trigger language plpgsql as
        'begin delete from backend_registrations where callback_url like ''%/other''; return null; end';
      create trigger forget after update of executed_at on trigger_runs for each statement execute function forget()`)
    await scene.deliver()
    await scene.service.sql.query('drop function forget cascade')
    expect(scene.backend.received).toEqual([])
    expect(await scene.runsOf(id)).toMatchObject([
      { outcome: 'pending', failure: 'the upstream refuses connections' },
    ])
  })

  test('a result is recorded although the database refuses it for a moment, and nothing is sent twice', async () => {
    await scene.register()
    await scene.service.sql.query(`
      create sequence refusals;
      create function refuse() returns trigger language plpgsql as
        'begin if nextval(''refusals'') < 3 then raise exception using errcode = ''40P01''; end if; return null; end';
      create trigger refuse after update of finished_at on trigger_runs for each statement execute function refuse()`)
    const { id } = await fire()
    await scene.service.sql.query('drop function refuse cascade; drop sequence refusals')
    expect(scene.backend.received).toHaveLength(1)
    expect(await scene.runsOf(id)).toMatchObject([{ outcome: 'delivered', attempts: 1 }])
  })

  test('many backends are called although few connections may be open, and none loses an attempt to that', async () => {
    const places = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const place = await seedProject(scene.service.sql, `p${index}`)
        return {
          ...scene.project,
          applicationId: place.applicationId,
          id: place.id,
          environmentId: place.environmentId,
        }
      }),
    )
    for (const place of places) await scene.register(undefined, place)
    const triggers = await Promise.all(places.map((place) => scene.createTrigger({}, place.applicationId)))
    for (const { id } of triggers) await scene.makeDue(id)
    await scene.plan()
    await scene.deliver()
    for (let waits = await scene.waits(); waits.length > 0; waits = await scene.waits()) {
      await scene.skipWaits()
      await scene.deliver()
    }
    for (const { id } of triggers)
      expect(await scene.runsOf(id)).toMatchObject([{ outcome: 'delivered', attempts: 1 }])
  })

  test('[triggers.disabled] a disabled trigger is not planned, and what is planned is not sent any more', async () => {
    await scene.register()
    const { id } = await scene.createTrigger()
    await scene.makeDue(id)
    await scene.plan()
    await scene.updateTrigger(id, { enabled: false })
    await scene.deliver()
    expect(scene.backend.received).toEqual([])
    expect(await scene.runsOf(id)).toMatchObject([
      { outcome: 'cancelled', failure: 'the trigger was disabled', executed_at: null },
    ])
    const { rows } = await scene.service.sql.query('select next_fire_at from triggers')
    expect(rows).toEqual([{ next_fire_at: null }])
    await scene.plan()
    expect(await scene.runsOf(id)).toHaveLength(1)
  })

  test('[triggers.at-least-once] an attempt whose process is lost is made again with the same id and body, and the lost one records nothing', async () => {
    await scene.register()
    const { id } = await scene.createTrigger()
    await scene.makeDue(id)
    await scene.plan()
    // A process fetches the job, sends the request, and never responds again.
    const waiting = Promise.withResolvers<void>()
    const [answered, isAsked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let calls = 0
    scene.backend.answer((_request, response) => {
      if (calls++ > 0) return void response.writeHead(204).end()
      isAsked.resolve()
      void waiting.promise.then(() => answered.resolve(void response.writeHead(500).end()))
    })
    const stop = scene.startWorkers()
    await isAsked.promise
    await scene.service.sql.query('update queued_jobs set hidden_until = now()')
    await scene.service.app.jobs.wake()
    await scene.skipWaits()
    while ((await scene.runsOf(id))[0]?.outcome !== 'delivered') {
      await scene.skipWaits()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    waiting.resolve()
    await answered.promise
    await stop()
    const { received } = scene.backend
    expect(received).toHaveLength(2)
    expect(received[0]?.headers['webhook-id']).toBe(received[1]?.headers['webhook-id'])
    expect(String(received[0]?.body)).toBe(String(received[1]?.body))
    expect(await scene.runsOf(id)).toMatchObject([
      { outcome: 'delivered', response_status: 204, attempts: 1 },
    ])
    expect(await scene.jobsWhere('true')).toBe(0)
  })
})
