import { expect, test } from 'vitest'
import { listTimeline } from './timeline.ts'

const environments = [
  { id: 'run', sortOrder: 3 },
  { id: 'dev', sortOrder: 1 },
  { id: 'qas', sortOrder: 2 },
]
const createRun = (minute: number, environment: string) => ({
  scheduledAt: `2026-11-19T10:${String(minute).padStart(2, '0')}:00.000Z`,
  environment: { id: environment },
})

test('environments with runs have a lane in their order, on one axis that starts with the oldest time', () => {
  const runs = [createRun(2, 'run'), createRun(2, 'dev'), createRun(1, 'run')]
  expect(listTimeline(runs, environments)).toEqual({
    instants: [runs[2]?.scheduledAt, runs[0]?.scheduledAt],
    lanes: [
      { environment: environments[1], marks: [null, runs[1]] },
      { environment: environments[0], marks: [runs[2], runs[0]] },
    ],
  })
})

test('only the newest times are shown', () => {
  const runs = Array.from({ length: 30 }, (_, index) => createRun(59 - index, 'dev'))
  const { instants } = listTimeline(runs, environments)
  expect(instants).toHaveLength(14)
  expect(instants.at(-1)).toBe(runs[0]?.scheduledAt)
})

test('without runs in the shown environments, there is no lane', () => {
  expect(listTimeline([createRun(1, 'old')], environments)).toEqual({ instants: [], lanes: [] })
})
