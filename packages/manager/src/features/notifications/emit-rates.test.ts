// These tests cover the rate limits of emit and publish with and without Redis, and their metrics.
import { randomUUID } from 'node:crypto'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { emit, targetFields, publish, seedTenantMember } from '../../../test/kit/comms.ts'
import { redisUrl } from '@manager/harness/run-engines.ts'
import { useProject } from '../../../test/kit/project.ts'
import { type SeededProject, seedMachineUser, seedProject } from '@manager/harness/seed.ts'
import { waitForRedis } from '../../../test/kit/wrong-machine-tokens.ts'

const { service } = useProject()
beforeAll(() => waitForRedis(service, 60_000))

let slugs = 0
/** Creates a project whose limits are unused. */
async function fresh(): Promise<{ place: object; token: string; project: SeededProject }> {
  const own = await seedProject(service.sql, `fresh-${++slugs}`)
  return { place: targetFields(own), token: (await seedMachineUser(service.sql, own)).token, project: own }
}
const outcomes = async (app: TestApp, name: string): Promise<Record<string, number>> => {
  const metric = (await app.world.metrics.registry.getMetricsAsJSON()).find((one) => one.name === name)
  const values = metric?.values as { labels: { outcome: string }; value: number }[] | undefined
  return Object.fromEntries((values ?? []).map(({ labels, value }) => [labels.outcome, value]))
}

describe('the limit of an application', () => {
  test("[comms.rate-limit] [comms.retry-after] over the limit emit and publish answer 429 'rate_limited' with Retry-After", async () => {
    for (const [call, burst, rate] of [
      [emit, 100, 10],
      [publish, 200, 50],
    ] as const) {
      const { place, token: own } = await fresh()
      const began = performance.now()
      const answers = []
      for (let sent = 0; sent < burst + 20; sent += 20)
        answers.push(...(await Promise.all(Array.from({ length: 20 }, () => call(service, own, place)))))
      // Calls can exceed the burst only by the amount that was refilled during the test.
      const cameBack = ((performance.now() - began) / 1_000) * rate
      const accepted = answers.filter(({ status }) => status === 202).length
      expect(accepted).toBeGreaterThanOrEqual(burst)
      expect(accepted).toBeLessThanOrEqual(burst + cameBack + 1)
      for (const answer of answers.filter(({ status }) => status !== 202)) {
        expect(answer).toMatchObject({ status: 429, body: { error: 'rate_limited', code: 'rate_limited' } })
        expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
      }
    }
  })
})

describe('with a limit of three', () => {
  const three = {
    SVC_COMMS_EMIT_RATE: '1',
    SVC_COMMS_EMIT_BURST: '3',
    SVC_COMMS_PUBLISH_RATE: '1',
    SVC_COMMS_PUBLISH_BURST: '3',
  }
  let [one, two, cut] = [{} as TestApp, {} as TestApp, {} as TestApp]
  beforeAll(async () => {
    one = await startTestApp({ database: service.database, env: three })
    two = await startTestApp({ database: service.database, env: three })
    cut = await startTestApp({
      database: service.database,
      env: { ...three, SVC_REDIS_URL: 'redis://127.0.0.1:1' },
    })
    for (const app of [one, two]) await waitForRedis(app, 60_000)
  })
  afterAll(async () => {
    for (const app of [one, two, cut]) await app.close()
  })
  /** Returns how many of the concurrent calls are accepted and how many are rejected. */
  const burst = async (calls: Promise<{ status: number }>[]) => {
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    return [202, 429].map((status) => statuses.filter((got) => got === status).length)
  }
  const times = <T>(count: number, call: (n: number) => T): T[] =>
    Array.from({ length: count }, (_, n) => call(n))

  test('[comms.rate-limit] replicas count together, emit and publish each for itself', async () => {
    const { place, token: own } = await fresh()
    const [accepted = 0, refused = 0] = await burst(
      times(40, (n) => emit(n % 2 === 0 ? one : two, own, place)),
    )
    expect(accepted + refused).toBe(40)
    expect(refused).toBeGreaterThan(20)
    expect(await publish(one, own, place)).toMatchObject({ status: 202 })
  })

  test('[comms.rate-limit] [comms.publish] without Redis each process counts for itself, and answers go on', async () => {
    const { place, token: own } = await fresh()
    for (const call of [emit, publish]) {
      const [accepted = 0, refused = 0] = await burst(times(40, () => call(cut, own, place)))
      expect(accepted).toBeGreaterThanOrEqual(3)
      expect(refused).toBeGreaterThan(20)
      expect(accepted + refused).toBe(40)
    }
  })

  test("[comms.rate-limit] another project's machine users do not use up an application's limit", async () => {
    const [mine, theirs] = [await fresh(), await fresh()]
    const refused = () =>
      burst(times(10, () => emit(one, theirs.token, mine.place))).then(([, count]) => count)
    await expect.poll(refused, { timeout: 60_000 }).toBeGreaterThan(0)
    expect(await emit(one, mine.token, mine.place)).toMatchObject({ status: 202 })
  })

  test('[comms.rate-limit] ids that are no applications of the project share one count, and leave those of its own alone', async () => {
    for (const app of [one, cut])
      for (const call of [emit, publish]) {
        const { place, token: own } = await fresh()
        const invented = () => call(app, own, { ...place, application_id: randomUUID() })
        const statuses = (await Promise.all(times(40, invented))).map(({ status }) => status)
        expect(new Set(statuses)).toEqual(new Set([403, 429]))
        expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(20)
        expect(await call(app, own, place)).toMatchObject({ status: 202 })
      }
  })

  test('[comms.rate-limit] invented ids leave no counters behind', async () => {
    const { place, token: own, project } = await fresh()
    await Promise.all(times(30, () => emit(one, own, { ...place, application_id: randomUUID() })))
    await emit(one, own, place)
    const redis = createClient({ url: redisUrl() })
    await redis.connect()
    const names = (await redis.keys(`*rate:emit:${project.id}:*`)).map(
      (name) => name.split(`${project.id}:`)[1],
    )
    redis.destroy()
    expect(new Set(names)).toEqual(new Set([project.applicationId, 'unverified']))
  })

  test('what becomes of emits and publishes is counted', async () => {
    const { place, token: own, project: its } = await fresh()
    await seedTenantMember(service, its)
    const before = {
      emit: await outcomes(one, 'svc_comms_emit_total'),
      publish: await outcomes(one, 'svc_comms_publish_total'),
    }
    const rise = async (which: 'emit' | 'publish') =>
      Object.fromEntries(
        Object.entries(await outcomes(one, `svc_comms_${which}_total`))
          .map(([outcome, value]) => [outcome, value - (before[which][outcome] ?? 0)] as const)
          .filter(([, value]) => value > 0),
      )
    await emit(one, own, place, 'key')
    await emit(one, own, place, 'key')
    await emit(one, own, { ...place, title: 'x' }, 'key')
    await burst(times(10, () => emit(one, own, place)))
    const { place: foreign } = await fresh()
    await emit(one, own, foreign)
    expect(await rise('emit')).toMatchObject({
      accepted: expect.any(Number),
      repeated: 1,
      key_reused: 1,
      foreign: 1,
      rate_limited: expect.any(Number),
    })
    await publish(one, own, foreign)
    await publish(one, own, place)
    await service.sql.query('update tenant2applications set enabled = false where id = $1', [
      its.tenant2ApplicationId,
    ])
    await publish(one, own, place)
    expect(await rise('publish')).toMatchObject({ accepted: 1, foreign: 1, disabled: 1 })
    expect(await outcomes(one, 'svc_comms_recipients_total')).not.toEqual({ undefined: 0 })
  })
})
