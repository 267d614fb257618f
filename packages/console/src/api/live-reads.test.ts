import { ResponseError } from '@manager/client'
import {
  QueryClient,
  QueryObserver,
  environmentManager,
  focusManager,
  onlineManager,
} from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { canReadOnReconnect, createLiveOptions, getPause } from './live-reads.ts'

beforeEach(() => {
  vi.useFakeTimers()
  // Without a window, queries do not repeat.
  environmentManager.setIsServer(() => false)
})
afterEach(() => {
  focusManager.setFocused(undefined)
  environmentManager.setIsServer(() => true)
  vi.useRealTimers()
})

/** Starts a live read whose request is `read`, and returns the function that ends it. */
function startReading(
  read: () => Promise<number>,
  isLive: (result: number | undefined) => boolean = () => true,
): () => void {
  const client = new QueryClient({
    defaultOptions: {
      queries: { retry: false, networkMode: 'always', refetchOnReconnect: canReadOnReconnect },
    },
  })
  client.mount()
  const observer = new QueryObserver(client, {
    queryKey: ['live'],
    queryFn: read,
    ...createLiveOptions(isLive),
  })
  const stop = observer.subscribe(() => {})
  return () => {
    stop()
    client.clear()
    client.unmount()
  }
}

const refuse = (retryAfterMs: number | null): Error =>
  new ResponseError('busy', { status: 503, retryAfterMs })

test('the pause doubles with every failure, up to a minute, and respects a longer Retry-After', () => {
  expect([0, 1, 2, 3, 4, 9].map((failures) => getPause(failures, null))).toEqual([
    5_000, 10_000, 20_000, 40_000, 60_000, 60_000,
  ])
  expect(getPause(1, refuse(90_000))).toBe(90_000)
  expect(getPause(2, refuse(1_000))).toBe(20_000)
  expect([0, 1, 9].map((failures) => getPause(failures, null, 1_000))).toEqual([1_000, 2_000, 60_000])
  expect([0, 1].map((failures) => getPause(failures, null, 300_000))).toEqual([300_000, 300_000])
})

test('failures make the pauses longer, and a success makes them short again', async () => {
  const read = vi.fn(() => Promise.resolve(1))
  const stop = startReading(read)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(read).toHaveBeenCalledTimes(2)
  read.mockRejectedValueOnce(refuse(null)).mockRejectedValueOnce(refuse(null))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(read).toHaveBeenCalledTimes(3)
  await vi.advanceTimersByTimeAsync(9_999)
  expect(read).toHaveBeenCalledTimes(3)
  await vi.advanceTimersByTimeAsync(1)
  expect(read).toHaveBeenCalledTimes(4)
  await vi.advanceTimersByTimeAsync(19_999)
  expect(read).toHaveBeenCalledTimes(4)
  await vi.advanceTimersByTimeAsync(5_001)
  expect(read).toHaveBeenCalledTimes(6)
  stop()
})

test('a hidden page sends no request, and a page that becomes visible is read immediately', async () => {
  const read = vi.fn(() => Promise.resolve(1))
  const stop = startReading(read)
  await vi.advanceTimersByTimeAsync(0)
  focusManager.setFocused(false)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(read).toHaveBeenCalledTimes(1)
  focusManager.setFocused(true)
  await vi.advanceTimersByTimeAsync(0)
  expect(read).toHaveBeenCalledTimes(2)
  stop()
})

test('a connection that returns is used by visible pages only', async () => {
  const read = vi.fn(() => Promise.resolve(1))
  const stop = startReading(read, () => false)
  await vi.advanceTimersByTimeAsync(0)
  const reconnect = async (): Promise<void> => {
    onlineManager.setOnline(false)
    onlineManager.setOnline(true)
    await vi.advanceTimersByTimeAsync(1)
  }
  focusManager.setFocused(false)
  await reconnect()
  expect(read).toHaveBeenCalledTimes(1)
  focusManager.setFocused(undefined)
  await reconnect()
  expect(read).toHaveBeenCalledTimes(2)
  stop()
})

test('a page that becomes visible waits for the Retry-After of the last failure', async () => {
  const read = vi.fn(() => Promise.reject(refuse(90_000)))
  const stop = startReading(read)
  await vi.advanceTimersByTimeAsync(0)
  focusManager.setFocused(false)
  await vi.advanceTimersByTimeAsync(30_000)
  focusManager.setFocused(true)
  await vi.advanceTimersByTimeAsync(59_999)
  expect(read).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(read).toHaveBeenCalledTimes(2)
  stop()
})

test('a result that can no longer change is not read again', async () => {
  const read = vi.fn(() => Promise.resolve(read.mock.calls.length))
  const stop = startReading(read, (result) => (result ?? 0) < 3)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(read).toHaveBeenCalledTimes(3)
  stop()
})
