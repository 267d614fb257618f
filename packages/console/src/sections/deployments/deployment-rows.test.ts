import { expect, test } from 'vitest'
import { findWindow, parseDeploymentId, summarizeBackends, toDeploymentId } from './deployment-rows.ts'

test('a page of rows covers the applications that hold them', () => {
  expect(findWindow(1, 25, 3)).toEqual({ pagination: { offset: 0, limit: 10 }, skipped: 0 })
  expect(findWindow(2, 25, 3)).toEqual({ pagination: { offset: 8, limit: 10 }, skipped: 1 })
  expect(findWindow(3, 100, 1)).toEqual({ pagination: { offset: 200, limit: 100 }, skipped: 0 })
})

test('pages of rows are without gaps, and use only page sizes of the API', () => {
  const perApplication = 3
  for (const size of [25, 50, 100]) {
    const seen: number[] = []
    for (let page = 1; page <= 6; page++) {
      const { pagination, skipped } = findWindow(page, size, perApplication)
      expect([10, 20, 25, 50, 100]).toContain(pagination.limit)
      const first = pagination.offset * perApplication
      const rows = Array.from({ length: pagination.limit * perApplication }, (_, index) => first + index)
      seen.push(...rows.slice(skipped, skipped + size))
    }
    expect(seen).toEqual(Array.from({ length: 6 * size }, (_, index) => index))
  }
})

test('the address of a deployment names the application and the environment', () => {
  const id = toDeploymentId('0197a3c2-5f0e-7c3b-9c61-2f1e8f7f4a10', 'dev')
  expect(parseDeploymentId(id)).toEqual({
    applicationId: '0197a3c2-5f0e-7c3b-9c61-2f1e8f7f4a10',
    environment: 'dev',
  })
  expect(parseDeploymentId('nonsense').environment).toBe('nonsense')
})

const createBackend = (isLive: boolean, second: number, version = '1.0') => ({
  version,
  isLive,
  lastHeartbeat: `2026-11-19T12:00:${String(second).padStart(2, '0')}.000Z`,
})
const summarize = (nodes: ReturnType<typeof createBackend>[], totalCount = nodes.length, canSleep = false) =>
  summarizeBackends({ nodes, totalCount, isTotalExact: true }, canSleep)

test('the state of a deployment follows from its backends', () => {
  const [live, silent] = [createBackend(true, 30), createBackend(false, 10)]
  expect(summarize([]).liveness).toBe('noneRegistered')
  expect(summarize([], 0, true).liveness).toBe('asleep')
  expect(summarize([silent]).liveness).toBe('noneLive')
  expect(summarize([live, silent]).liveness).toBe('partlyLive')
  expect(summarize([live, live], 2, true).liveness).toBe('live')
  expect(summarize([live, live], 900)).toMatchObject({ liveness: 'live', isComplete: false })
})

test('the heartbeat is the oldest one of the live backends, and their versions are listed once', () => {
  const { oldestHeartbeat, versions } = summarize([
    createBackend(true, 50, '2.0'),
    createBackend(true, 40, '1.9'),
    createBackend(true, 30, '2.0'),
    createBackend(false, 1, '1.0'),
  ])
  expect(oldestHeartbeat).toBe('2026-11-19T12:00:30.000Z')
  expect(versions).toEqual(['2.0', '1.9'])
  expect(summarize([createBackend(false, 5)]).oldestHeartbeat).toBe('2026-11-19T12:00:05.000Z')
  expect(summarize([]).oldestHeartbeat).toBe(null)
})
