// Every checker receives a correct history, and histories with a planted mistake that it must find.
import { describe, expect, test } from 'vitest'
import {
  checkDelivered,
  checkFenced,
  checkInstants,
  checkOnce,
  checkOrder,
  checkRetries,
  checkRetryAfter,
  checkSet,
  findRedelivered,
  lagsOf,
  plannedKeys,
} from './checkers.ts'
import { type Delivery, type Run, createRecorder, keyOf, keysOf } from './recorder.ts'

const minute = 60_000
const runOf = (id: string, values: Partial<Run> = {}): Run => ({
  id,
  triggerId: 't1',
  environmentId: 'e1',
  scheduledAt: minute,
  outcome: 'delivered',
  attempts: 1,
  starts: 1,
  finishedAt: minute + 100,
  responseStatus: 200,
  ...values,
})
const deliveryOf = (runId: string, values: Partial<Delivery> = {}): Delivery => ({
  runId,
  triggerId: 't1',
  attempt: 1,
  scheduledAt: minute,
  stampedAt: minute,
  executedAt: minute,
  at: minute + 50,
  destination: 0,
  mode: 'ok',
  status: 200,
  ...values,
})
const runs = [runOf('a'), runOf('b', { scheduledAt: 2 * minute }), runOf('c', { environmentId: 'e2' })]
const deliveries = [
  deliveryOf('a'),
  deliveryOf('b', { scheduledAt: 2 * minute, at: 2 * minute + 50 }),
  deliveryOf('c', { destination: 1 }),
]
const [first] = deliveries as [Delivery]

describe('set', () => {
  test('what was acknowledged is stored; what ended unknown may be stored or not', () => {
    const sets = { ok: ['1', '2'], unknown: ['3', '4'], stored: ['1', '2', '4'] }
    expect(checkSet(sets)).toEqual({ missing: [], unexpected: [] })
  })

  test('finds what is missing and what nobody asked for', () => {
    expect(checkSet({ ok: ['1', '2'], unknown: ['3'], stored: ['1', '3', '5'] })).toEqual({
      missing: ['2'],
      unexpected: ['5'],
    })
  })

  test('a run for an instant that was not planned is found, and so is the one that is missing for it', () => {
    const shifted = runs.map((run) => (run.id === 'b' ? { ...run, scheduledAt: run.scheduledAt + 1 } : run))
    const found = checkSet({ ok: plannedKeys(runs), stored: shifted.map(keyOf) })
    expect(found).toEqual({ missing: [`t1 e1 ${2 * minute}`], unexpected: [`t1 e1 ${2 * minute + 1}`] })
  })
})

describe('once', () => {
  test('runs of other instants and other environments are no second scheduling, nor is a second attempt', () => {
    expect(checkOnce(runs, [...deliveries, { ...first, attempt: 2 }])).toEqual([])
  })

  test('finds a second run in the database', () => {
    expect(checkOnce([...runs, runOf('d')], deliveries)).toEqual([keyOf(runOf('a'))])
    expect(checkOnce([...runs, runOf('a')], deliveries)).toEqual([keyOf(runOf('a'))])
  })

  test('finds a second run that was sent and never stored', () => {
    expect(checkOnce(runs, [...deliveries, deliveryOf('d')])).toEqual(['d'])
  })

  test('finds two runs that say the same instant at the backend', () => {
    const sent = deliveries.map((delivery) => ({ ...delivery, scheduledAt: minute }))
    expect(checkOnce(runs, sent)).toEqual([keyOf(runOf('a'))])
  })
})

describe('at least once', () => {
  test('a run that was accepted at its second attempt is delivered', () => {
    expect(checkDelivered(runs, [{ ...first, status: 500 }, ...deliveries])).toEqual([])
  })

  test('finds a run that never arrived, and one that was never accepted', () => {
    expect(checkDelivered(runs, deliveries.slice(1))).toEqual(['a'])
    expect(checkDelivered(runs, [{ ...first, status: 0 }, ...deliveries.slice(1)])).toEqual(['a'])
  })
})

describe('delivered again', () => {
  test('an attempt after a failed one is no second delivery', () => {
    expect(findRedelivered([{ ...first, at: minute, status: 500 }, ...deliveries])).toEqual([])
  })

  test('finds what comes after an accepted one, in whatever order the record is', () => {
    const again = { ...first, at: first.at + 10_000 }
    expect(findRedelivered([again, ...deliveries])).toEqual([again])
  })
})

describe('instants and their order', () => {
  const isMinute = (at: number): boolean => at % minute === 0

  test('whole minutes that backends are told as they are stored', () => {
    expect(checkInstants(runs, deliveries, isMinute)).toEqual([])
    expect(checkOrder(runs, deliveries)).toEqual([])
  })

  test('finds an instant beside the schedule, and one that a backend is told differently', () => {
    expect(checkInstants([runOf('a', { scheduledAt: minute + 1 })], [], isMinute)).toHaveLength(1)
    expect(checkInstants(runs, [{ ...first, scheduledAt: 2 * minute }], isMinute)).toHaveLength(1)
  })

  test('finds a later instant that arrives before an earlier one', () => {
    const swapped = deliveries.map((delivery) => ({ ...delivery, at: 10 * minute - delivery.at }))
    expect(checkOrder(runs, swapped)).toEqual(['b'])
  })
})

describe('retries', () => {
  const policy = {
    delaysMs: [1_000, 2_000],
    jitter: 0.2,
    slackMs: 500,
    retryAfterMs: (mode: string) => (mode === '429' ? 3_000 : 0),
  }
  /** Creates attempts of one run that arrive at these times. */
  const attempts = (mode: string, ...times: number[]): Delivery[] =>
    times.map((at, index) => deliveryOf('a', { mode, status: 500, attempt: index + 1, at }))

  test('attempts within the policy', () => {
    expect(checkRetries(attempts('500', 0, 810, 3_200), policy)).toEqual([])
    expect(checkRetries(attempts('429', 0, 3_000, 6_100), policy)).toEqual([])
    const long = { ...policy, delaysMs: [60_000] }
    expect(checkRetries(attempts('429', 0, 3_000), long)).toEqual([])
    expect(checkRetryAfter(attempts('429', 0, 3_000, 6_100), policy.retryAfterMs)).toEqual({
      followed: 2,
      early: 0,
    })
  })

  test('finds an early one, a late one, one too many, and one that is numbered wrongly', () => {
    expect(checkRetries(attempts('500', 0, 700), policy)).toHaveLength(1)
    expect(checkRetries(attempts('500', 0, 1_800), policy)).toHaveLength(1)
    expect(checkRetries(attempts('500', 0, 1_000, 3_000, 5_000), policy)).toHaveLength(1)
    const [one, two] = attempts('500', 0, 1_000) as [Delivery, Delivery]
    expect(checkRetries([one, { ...two, attempt: 1 }], policy)).toHaveLength(1)
  })

  test('finds an attempt before the time that Retry-After names', () => {
    expect(checkRetries(attempts('429', 0, 2_500), policy)).toHaveLength(1)
    expect(checkRetryAfter(attempts('429', 0, 2_500), policy.retryAfterMs)).toEqual({ followed: 1, early: 1 })
  })
})

describe('fenced', () => {
  test('what was open may be finished, and new runs may come', () => {
    const open = runOf('d', { outcome: 'pending', finishedAt: null })
    expect(checkFenced([...runs, open], [...runs, runOf('d'), runOf('e')])).toEqual([])
  })

  test.each([
    { finishedAt: 2 * minute },
    { outcome: 'failed' },
    { attempts: 2 },
    { responseStatus: 500 },
    { starts: 2 },
  ])('finds a finished run that a zombie changed: %j', (change) => {
    const changed = runs.map((run) => (run.id === 'b' ? { ...run, ...change } : run))
    expect(checkFenced(runs, changed)).toEqual(['b'])
  })

  test('finds a finished run that is gone', () => {
    expect(checkFenced(runs, runs.slice(1))).toEqual(['a'])
  })
})

describe('what is recorded', () => {
  test('a call without an answer and a 5xx are unknown, a refusal is a failure', async () => {
    let time = 0
    const recorder = createRecorder(() => ++time)
    const statuses = { a: 201, b: 503, c: 409 }
    for (const [key, status] of Object.entries(statuses))
      await recorder.record('register', key, () => Promise.resolve(status))
    await recorder.record('register', 'd', () => Promise.reject(new Error('reset')))
    expect(keysOf(recorder.operations, 'register', 'ok')).toEqual(['a'])
    expect(keysOf(recorder.operations, 'register', 'unknown')).toEqual(['b', 'd'])
    expect(keysOf(recorder.operations, 'register', 'fail')).toEqual(['c'])
    expect(recorder.operations[0]).toEqual({
      op: 'register',
      key: 'a',
      start: 1,
      end: 2,
      status: 201,
      outcome: 'ok',
    })
  })

  test('how late a run was is how late it arrived first', () => {
    expect(lagsOf([{ ...first, at: minute + 900 }, ...deliveries])).toEqual([50, 50, 50])
  })
})
