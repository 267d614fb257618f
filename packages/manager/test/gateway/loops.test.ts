// Tests endpoints whose URL points back to the gateway: the call fails after five rounds, whatever the caller sends.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, type HeaderLine, startGateway } from '../kit/gateway.ts'

const loopError = 'loop detected: the endpoint leads back to the gateway'
let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())
afterEach(() => gateway.upstream.reset())

/** Creates an endpoint whose target URL is the endpoint itself, with the token of a machine user that may call it. */
async function loop(input: Record<string, unknown> = {}) {
  const endpoint = await gateway.endpoint({ authType: 'Bearer', authToken: gateway.machine.token, ...input })
  const { error } = await gateway.endpoints.update(gateway.admin, endpoint.id, {
    url: gateway.service.url + endpoint.path,
  })
  expect(error).toBeNull()
  return endpoint
}

const attempts: [string, HeaderLine[]][] = [
  ['nothing', []],
  ['a count of zero', [['X-SVC-Hops', '0']]],
  ['the header named in Connection', [['Connection', 'close, X-SVC-Hops, x_svc_hops']]],
  [
    'several counts in other spellings',
    [
      ['x_svc_hops', '0'],
      ['X-Svc_HOPS', '0'],
    ],
  ],
]
describe.each(attempts)('a loop whose caller sends %s', (_what, headers) => {
  test.each([
    ['passing', {}],
    ['transformed', { transformationTemplate: '{"a":1}' }],
  ])('ends after five rounds, and each of them has its row: %s', async (_kind, input) => {
    const { id, path } = await loop(input)
    const answer = await gateway.send(path, { method: 'POST', headers, body: '{}' })
    expect(answer).toMatchObject({ status: 502, error: loopError })
    const rows = await gateway.logged(id)
    expect(rows.map(({ response_status }) => response_status)).toEqual([502, 502, 502, 502, 502, 502])
    expect(rows.map(({ failure }) => failure).filter((failure) => failure !== null)).toEqual([loopError])
  })
})

/**
 * Returns the hop count that the upstream receives if the caller sends these counts, or null if the call is rejected.
 */
async function hopsFor(...counts: string[]): Promise<string | null> {
  const { path } = await gateway.endpoint({ url: gateway.upstream.url })
  const headers = counts.map((count): HeaderLine => ['X-SVC-Hops', count])
  const { error } = await gateway.send(path, { headers: [...headers, ['X-Other', '1']] })
  const [received] = gateway.upstream.received
  gateway.upstream.reset()
  expect(error).toBe(received === undefined ? loopError : undefined)
  return received === undefined ? null : (received.headers['x-svc-hops'] as string)
}

test('a caller may raise the count, and not lower it', async () => {
  expect(await hopsFor()).toBe('1')
  expect(await hopsFor('0')).toBe('1')
  expect(await hopsFor('3')).toBe('4')
  expect(await hopsFor('3', '0')).toBe('4')
  expect(await hopsFor('0', '4', '2')).toBe('5')
  expect(await hopsFor('5')).toBeNull()
})

test.each(['6', '10', '-1', '+1', '01', '1.0', '1e0', '0x1', '', '1, 1', 'one', '²', '9'.repeat(400)])(
  'a count %j is the most there can be',
  async (count) => {
    expect(await hopsFor(count)).toBeNull()
  },
)

test('an endpoint without a url is told before a circle is', async () => {
  const { path } = await gateway.endpoint()
  expect(await gateway.send(path, { headers: [['X-SVC-Hops', '5']] })).toMatchObject({
    status: 502,
    error: 'the endpoint has no url to forward to',
  })
})
