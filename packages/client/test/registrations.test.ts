// Tests registrations without a service, with fake timers.
import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ConnectionError, type IncomingCallback, connect, registerBackend } from '../src/index.ts'

const secretOf = (index: number): Buffer => Buffer.alloc(32, index)
const tokenOf = (index: number): string => `whsec_${secretOf(index).toString('base64')}`
/**
 * Creates a current callback with the token of registration `index`, signed with that token or with the given
 * keys.
 */
function callbackOf(index: number, ...signedBy: Buffer[]): IncomingCallback {
  const sentAt = String(Math.floor(Date.now() / 1_000))
  const keys = signedBy.length === 0 ? [secretOf(index)] : signedBy
  const signatures = keys.map((key) => {
    const mac = createHmac('sha256', key).update(`run.${sentAt}.{}`)
    return `v1,${mac.digest('base64')}`
  })
  return {
    headers: {
      'webhook-id': 'run',
      'webhook-timestamp': sentAt,
      'webhook-signature': signatures.join(' '),
      authorization: `Bearer ${tokenOf(index)}`,
    },
    body: '{}',
  }
}

let sent: string[]
/** The response to each method. The default response is a registration. */
let answers: Partial<Record<string, (signal: AbortSignal) => Promise<Response>>>
let token: () => string | Promise<string>
/** Fields that a registration returns in addition to its token. */
let issued: { signing_secret?: string }
const count = (method: string): number => sent.filter((one) => one === method).length
const status = (code: number) => () =>
  Promise.resolve(new Response('{}', { status: code, headers: { 'retry-after': '0' } }))
const never = (signal: AbortSignal) =>
  new Promise<Response>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error))
  })
const connection = () =>
  connect({
    url: 'https://manager.example',
    token: () => token(),
    fetch: (_url, init) => {
      const method = init?.method ?? ''
      sent.push(method)
      const registered = { registered_id: 'r', token: tokenOf(count('POST')), ...issued }
      return (
        answers[method]?.(init?.signal as AbortSignal) ??
        Promise.resolve(new Response(JSON.stringify(registered)))
      )
    },
  })
const options = { applicationId: 'a', callbackUrl: 'https://backend.example' }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  ;[sent, answers, token, issued] = [[], {}, () => 'secret', {}]
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

test.each([Number.NaN, 0, -1, Infinity, 2 ** 31])('a heartbeatMs of %d is refused', async (heartbeatMs) => {
  const refused = registerBackend(connection(), { ...options, heartbeatMs })
  await expect(refused).rejects.toThrow('heartbeatMs must be a number from 1 to')
  expect(sent).toEqual([])
})

test.each([
  [
    'throws',
    () => {
      throw new Error('no')
    },
  ],
  ['rejects', () => Promise.reject(new Error('no'))],
  ['does not end', () => new Promise(() => undefined)],
])('heartbeats go on when onError %s', async (_, onError) => {
  answers['PUT'] = status(500)
  const { close } = await registerBackend(connection(), { ...options, onError })
  await vi.advanceTimersByTimeAsync(90_000)
  expect(sent).toEqual(['POST', 'PUT', 'PUT', 'PUT'])
  await close()
})

test('the former callback token is known for five minutes', async () => {
  const { verify, close } = await registerBackend(connection(), options)
  answers['PUT'] = status(404)
  await vi.advanceTimersByTimeAsync(30_000)
  answers['PUT'] = status(200)
  expect(count('POST')).toBe(2)
  await vi.advanceTimersByTimeAsync(299_999)
  expect(await verify(callbackOf(1))).toMatchObject({ id: 'run' })
  await vi.advanceTimersByTimeAsync(1)
  await expect(verify(callbackOf(1))).rejects.toMatchObject({ name: 'CallbackError', status: 503 })
  expect(await verify(callbackOf(2))).toMatchObject({ id: 'run' })
  await close()
})

test('with a signing secret a callback is verified by it, and without one by the token', async () => {
  const old = await registerBackend(connection(), options)
  expect(await old.verify(callbackOf(1))).toMatchObject({ id: 'run' })
  await old.close()
  issued = { signing_secret: tokenOf(7) }
  const { verify, close } = await registerBackend(connection(), options)
  expect(await verify(callbackOf(2, secretOf(7)))).toMatchObject({ id: 'run' })
  expect(await verify(callbackOf(2, secretOf(7), secretOf(2)))).toMatchObject({ id: 'run' })
  await expect(verify(callbackOf(2))).rejects.toMatchObject({ status: 503 })
  // The signature is correct, but the bearer token is a different one.
  await expect(verify(callbackOf(3, secretOf(7)))).rejects.toMatchObject({ status: 401 })
  await close()
})

test('calls with tokens that are not known, however many, make one registration per heartbeat', async () => {
  const { verify, close } = await registerBackend(connection(), options)
  for (const _ of [1, 2, 3]) await expect(verify(callbackOf(9))).rejects.toMatchObject({ status: 503 })
  expect(sent).toEqual(['POST'])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(sent).toEqual(['POST', 'POST', 'PUT'])
  await close()
})

describe('close', () => {
  test.each([
    [
      'the Manager does not answer',
      () => {
        answers['DELETE'] = never
      },
    ],
    [
      'there is no token',
      () => {
        token = () => new Promise(() => undefined)
      },
    ],
  ])('is over after ten seconds when %s', async (_, hang) => {
    const { close } = await registerBackend(connection(), options)
    hang()
    const closed = close().catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(10_000)
    const error = await closed
    expect(error).toBeInstanceOf(ConnectionError)
    expect((error as Error).message).toContain('not unregistered within 10000 ms')
    // The pending attempt is aborted too.
    await vi.advanceTimersByTimeAsync(0)
  })

  test('asks again twice at most', async () => {
    const { close } = await registerBackend(connection(), options)
    answers['DELETE'] = status(503)
    const closed = close().catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await closed).toMatchObject({ name: 'ResponseError', status: 503 })
    expect(count('DELETE')).toBe(3)
  })
})
