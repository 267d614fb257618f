import { expect, test } from 'vitest'
import type { Backend } from './deployment-types.ts'
import { rememberGone } from './gone-backends.ts'

const createBackend = (id: string): Backend => ({
  id,
  version: '1.0',
  callbackOrigin: 'https://backend.example.com',
  lastHeartbeat: '2026-11-19T12:00:00.000Z',
  registeredAt: '2026-11-19T11:00:00.000Z',
  isLive: true,
  machineUser: { id: 'machine', name: 'machine' },
})
const [a, b] = [createBackend('a'), createBackend('b')]

test('a backend that is no longer listed is gone until it registers again', () => {
  const started = rememberGone({ shown: [], gone: [] }, [a, b])
  expect(started.gone).toEqual([])
  const stopped = rememberGone(started, [b])
  expect(stopped).toEqual({ shown: [b], gone: [a] })
  expect(rememberGone(stopped, [a, b]).gone).toEqual([])
})

test('only the latest backends that are gone are remembered', () => {
  const many = Array.from({ length: 50 }, (_, index) => createBackend(String(index)))
  expect(rememberGone({ shown: many, gone: [a] }, []).gone).toHaveLength(20)
})
