// Checks that a mutant counts as found only if the check that it targets fails, and that a mutant that violates no
// bound does not count.
import { describe, expect, test } from 'vitest'
import { judgeFirings, judgeRedelivered } from './judge.ts'
import {
  type History,
  doubleScheduling,
  lostDelivery,
  lostRun,
  redelivery,
  redeliveryOfOthers,
  shiftedInstant,
  unstoredRun,
} from './mutants.ts'
import { tryMutant } from './row.ts'
import { createVerdict, peakPerSecond, quantile } from './verdict.ts'

const minute = 60_000
const held = ['r0']
const planned = Array.from({ length: 6 }, (_, index) => ({
  triggerId: `t${index}`,
  environmentId: 'e1',
  scheduledAt: (1 + (index % 2)) * minute,
}))
const history: History = {
  planned,
  runs: planned.map((one, index) => ({
    ...one,
    id: `r${index}`,
    outcome: 'delivered',
    attempts: 1,
    starts: 1,
    finishedAt: one.scheduledAt + 20,
    responseStatus: 200,
  })),
  deliveries: planned.map(({ triggerId, scheduledAt }, index) => ({
    runId: `r${index}`,
    triggerId,
    scheduledAt,
    attempt: 1,
    stampedAt: scheduledAt,
    executedAt: scheduledAt,
    at: scheduledAt + 10,
    destination: index,
    mode: 'ok',
    status: 200,
  })),
}
const judge = (observed: History) => {
  const figures = createVerdict()
  judgeFirings(figures, observed)
  judgeRedelivered(figures, { ...observed, held })
  figures.none(
    'instants',
    observed.runs.filter(({ scheduledAt }) => scheduledAt % minute !== 0).map(({ id }) => id),
  )
  return figures.verdict
}

describe('mutants', () => {
  test('nothing is found in the history itself', () => {
    expect(judge(history)).toEqual({
      figures: ['lost=0', 'dup_sched=0', 'dup_deliv=0(<=1)', 'dup_of_others=0', 'instants=0'],
      broken: [],
      counts: ['lost=0', 'dup_sched=0', 'dup_of_others=0', 'instants=0'],
      recoveries: [],
    })
  })

  test.each([
    lostDelivery(),
    lostRun(),
    doubleScheduling(),
    unstoredRun(),
    shiftedInstant(),
    redelivery(() => held.length),
    redeliveryOfOthers(() => held),
  ])('$name', (mutant) => {
    expect(tryMutant(mutant, history, judge)).toMatchObject({ isFound: true })
    expect(judge(history).broken).toEqual([])
  })

  test('one that changes nothing, or breaks another figure than it says, is not found', () => {
    expect(tryMutant({ name: 'harmless', breaks: 'lost', plant: (same) => same }, history, judge)).toEqual({
      name: 'harmless',
      breaks: 'lost',
      isFound: false,
      figures: ['lost=0'],
    })
    expect(tryMutant({ ...lostRun(), breaks: 'dup_deliv' }, history, judge).isFound).toBe(false)
  })

  test('one that cannot be planted is not found', () => {
    const plant = (): History => {
      throw new Error('there is no run')
    }
    expect(tryMutant({ name: 'impossible', breaks: 'lost', plant }, history, judge)).toMatchObject({
      isFound: false,
      figures: ['there is no run'],
    })
  })

  test('a figure that is broken anyway shows no mutant', () => {
    const broken = { ...history, deliveries: history.deliveries.slice(1) }
    expect(tryMutant(lostDelivery(), broken, judge).isFound).toBe(false)
  })
})

test('a run that the database does not call delivered is lost, also when its backend has it', () => {
  const open = { ...history, runs: history.runs.map((run) => ({ ...run, outcome: 'pending' })) }
  expect(judge(open).broken).toMatchObject([{ figure: 'lost' }])
})

test('the peak counts what falls into any second, and a share of nothing is 0', () => {
  expect(peakPerSecond([0, 500, 999, 1_000, 1_400, 5_000])).toBe(4)
  expect(peakPerSecond([])).toBe(0)
  expect([quantile([1, 2, 3, 4], 0.5), quantile([], 0.5)]).toEqual([3, 0])
})
