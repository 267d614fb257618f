import { expect, test } from 'vitest'
import { type Wake, isUnderway, putWake, restoreWakes } from './wake-list.ts'

const now = Date.parse('2026-11-19T12:00:00Z')
const createWake = (changes: Partial<Wake> = {}): Wake => ({
  deployment: 'a.dev',
  phase: 'waiting',
  startedAt: now,
  answeredAt: now,
  minReplicas: 1,
  isAlreadyAwake: false,
  failure: null,
  ...changes,
})

test('a deployment has one wake, and the list keeps only the latest ones', () => {
  const [first, second] = [createWake(), createWake({ phase: 'ready' })]
  expect(putWake([first], second)).toEqual([second])
  const many = Array.from({ length: 30 }, (_, index) => createWake({ deployment: `${index}.dev` }))
  const list = many.reduce<readonly Wake[]>((wakes, wake) => putWake(wakes, wake), [])
  expect(list).toHaveLength(20)
  expect(list[0]?.deployment).toBe('29.dev')
})

test('after a reload, a wake that waited for its response has an unknown outcome', () => {
  const stored = JSON.stringify([createWake({ phase: 'asking' }), createWake({ deployment: 'b.dev' })])
  const wakes = restoreWakes(stored, now + 60_000)
  expect(wakes.map(({ phase }) => phase)).toEqual(['unknown', 'waiting'])
  expect(wakes.every(isUnderway)).toBe(true)
})

test('old wakes and stored texts of another shape are ignored', () => {
  expect(restoreWakes(JSON.stringify([createWake()]), now + 3_600_000)).toEqual([])
  for (const stored of [null, '', 'nonsense', '{}', '[null, 1, {"deployment": "a.dev"}]'])
    expect(restoreWakes(stored, now)).toEqual([])
})

test('a wake that failed or is ready expects no backend', () => {
  expect(isUnderway(createWake({ phase: 'failed' }))).toBe(false)
  expect(isUnderway(createWake({ phase: 'ready' }))).toBe(false)
})
