// Tests requests that hide other requests or try to reach other targets. In every case, the upstream gets at
// most one plain request to the stored address. The next caller gets the response to their own request.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { gatewayScene } from '../kit/gateway.ts'
import { type Message, statusOf, valuesOf } from '@manager/harness/http-messages.ts'
import { type RawSocket, openRaw } from '../kit/raw-socket.ts'
import { type RawUpstream, startRawUpstream } from '@manager/harness/raw-upstream.ts'
import {
  type Caller,
  type Forwarded,
  type ForwardedCase,
  type RefusedCase,
  type SmugglingCase,
  innerOf,
} from './smuggling-case.ts'
import { framingCases } from './smuggling-framing.ts'
import { headCases } from './smuggling-heads.ts'

const cases = [...framingCases, ...headCases]
const refusedCases = cases.filter((hostile): hostile is RefusedCase => 'refused' in hostile)
const forwardedCases = cases.filter((hostile): hostile is ForwardedCase => 'forwarded' in hostile)
const stored = { path: '/stored/Path;v=1/%2e%2e/', token: 'credential-of-the-endpoint' }

let service: TestApp
let upstream: RawUpstream
let caller: Caller
let reached = 0
beforeAll(async () => {
  service = await startTestApp()
  // The response contains the marker of its own request.
  upstream = await startRawUpstream((socket, request) => {
    const text = markersOf(request) || 'unmarked'
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`)
  })
  const scene = await gatewayScene(service)
  const endpoint = await scene.endpoint({
    url: upstream.url + stored.path,
    authType: 'Bearer',
    authToken: stored.token,
    logLevel: 'NONE',
  })
  caller = { path: endpoint.path, token: scene.machine.token }
})
afterAll(async () => {
  process.stdout.write(`smuggling cases=${cases.length} reached=${reached}\n`)
  await upstream.close()
  await service.close()
})

const markersOf = (request: Message): string => valuesOf(request, 'x-marker').join()

/**
 * Sends a good request after `after` responses have arrived. Returns the response text, or null if the connection is
 * closed.
 */
async function ask(raw: RawSocket, marker: string, after: number): Promise<string | null> {
  raw.send(
    `GET ${caller.path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${caller.token}\r\nX-Marker: ${marker}\r\n\r\n`,
  )
  const answers = await raw.completeResponses(after + 1)
  expect(answers.length).toBeLessThanOrEqual(after + 1)
  return answers[after]?.body.toString() ?? null
}

/** Sends the case followed by good requests. Returns the responses, and the requests that reached the upstream. */
async function attempt({ bytes }: SmugglingCase) {
  const before = upstream.requests.length
  const [raw, other] = [await openRaw(service.url), await openRaw(service.url)]
  raw.send(bytes(caller))
  const answers = await raw.completeResponses(1)
  const onSame = await ask(raw, 'same', answers.length)
  const onOther = await ask(other, 'other', 0)
  for (const { socket } of [raw, other]) socket.destroy()
  // The next caller gets the response to their own request, or none.
  expect([['same', null].includes(onSame), onOther]).toEqual([true, 'other'])
  expect(upstream.problems).toEqual([])
  const requests = upstream.requests.slice(before)
  const next = requests.map(markersOf).filter(Boolean)
  expect(next).toEqual(onSame === null ? ['other'] : ['same', 'other'])
  const own = requests.filter((request) => markersOf(request) === '')
  reached += own.length
  return { statuses: answers.map(statusOf), texts: answers.map(({ body }) => body.toString()), own, onSame }
}

/** Expects that the request contains only the expected parts, so that all parsers read it in the same way. */
function expectPlain(request: Message, forwarded: Forwarded): void {
  const { query = '', passes = {} } = forwarded
  const [method, ...rest] = request.start.split(' ')
  expect([method, ...rest]).toEqual([forwarded.method ?? method, stored.path + query, 'HTTP/1.1'])
  expect(request.body.toString('latin1')).toBe(forwarded.body ?? innerOf(caller))
  const expected = {
    host: upstream.url.slice('http://'.length),
    connection: 'keep-alive',
    // A TRACE response would reveal the credential to the caller.
    ...(method === 'TRACE' ? {} : { authorization: `Bearer ${stored.token}` }),
    'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-svc-hops': '1',
    ...passes,
  }
  const headers = request.headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => name !== 'content-length' && name !== 'transfer-encoding')
  expect(Object.fromEntries(headers)).toEqual(expected)
  expect(headers).toHaveLength(Object.keys(expected).length)
}

test.each(refusedCases)('[esb.raw-path] refused: $name', async (hostile) => {
  const { statuses, own } = await attempt(hostile)
  expect(statuses).toEqual(hostile.refused)
  expect(own).toEqual([])
})

test.each(forwardedCases)('[esb.hop-by-hop] [esb.raw-path] forwarded plainly: $name', async (hostile) => {
  const { statuses, texts, own, onSame } = await attempt(hostile)
  expect([statuses, texts, onSame]).toEqual([
    [200],
    ['unmarked'],
    hostile.forwarded.closes === true ? null : 'same',
  ])
  expect(own).toHaveLength(1)
  expectPlain(own[0] as Message, hostile.forwarded)
})

test("[esb.stripped-headers] the caller's own credential never reached the upstream", () => {
  const heads = upstream.requests.flatMap(({ start, headers }) => [start, ...headers.flat()])
  expect(heads.filter((text) => text.includes(caller.token))).toEqual([])
})
