// Tests the limits per person and per address in each reference proxy. The proxies are real servers with the
// files in deploy/proxy, in front of a stand-in Manager that responds on demand.
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startApache } from '@manager/harness/engines/apache.ts'
import { createReferenceProxy } from '@manager/harness/engines/nginx-proxy.ts'
import { startOidcProvider } from '@manager/harness/engines/oidc-provider.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { type RawAnswer, rawCall } from './kit/http.ts'
import { useProject } from './kit/project.ts'
import { renderProxy } from './kit/rendered-proxy.ts'
import { signIn } from './kit/sign-in.ts'
import { type Upstream, startUpstream } from './kit/upstream.ts'

const { service } = useProject({ slug: 'shop' })
const management = '127.0.0.1'
const people = ['1', '2'].map((end) => ({
  id: `2f6c0000-0000-4000-8000-00000000000${end}`,
  email: `p${end}@example.com`,
  name: `Person ${end}`,
}))

type Line = [name: string, value: string]
/** The port of each proxy, and the headers that identify two people. */
const proxies: Record<'nginx' | 'apache', { port: number; lines: [Line, Line] }> = {
  nginx: { port: 0, lines: [token('a'), token('b')] },
  apache: { port: 0, lines: [token('a'), token('b')] },
}
function token(letter: string): Line {
  return ['authorization', `Bearer pat_${letter.repeat(8)}_${letter.repeat(32)}`]
}
let manager: Upstream
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  manager = await startUpstream()
  const provider = await startOidcProvider(people)
  const of = { managerUrl: manager.url, secret: proxySecret }
  const render = (form: 'nginx' | 'apache') =>
    renderProxy(service, { form, management, backendUrl: manager.url })
  const nginx = await createReferenceProxy(of)
  await nginx.start(await render('nginx'))
  // Uses one process, because each process counts separately.
  const oneProcess = 'ServerLimit 1\nThreadsPerChild 64\nMaxRequestWorkers 64'
  const apache = await startApache({ ...of, provider, rendered: await render('apache'), oidc: oneProcess })
  for (const one of [nginx, apache, provider, manager]) closing.push(() => one.close())
  proxies.nginx.port = nginx.port
  proxies.apache.port = apache.port
  const cookies = []
  for (const { id } of people)
    cookies.push(
      (await signIn({ port: apache.port, host: management, login: id, path: '/cli/authorize' })).cookie,
    )
  proxies.apache.lines = cookies as [Line, Line]
}, 180_000)
afterAll(async () => {
  for (const close of closing) await close()
})
beforeEach(() => manager.reset())

const query = (kind: 'nginx' | 'apache', line: Line): Promise<RawAnswer> =>
  rawCall(`http://127.0.0.1:${proxies[kind].port}`, {
    method: 'POST',
    path: '/query',
    host: `${management}:${proxies[kind].port}`,
    headers: [line, ['content-type', 'application/json'], ['sec-fetch-site', 'same-origin']],
    body: '{"query": "{ me { id } }"}',
  })

/** Concurrent requests per person, sustained requests per second, and the size of the initial burst. */
const limits = {
  nginx: { atOnce: 32, perSecond: 50, burst: 101 },
  apache: { atOnce: 8, perSecond: 50, burst: 200 },
}

describe.each(['nginx', 'apache'] as const)('%s', (kind) => {
  const { atOnce, perSecond, burst } = limits[kind]
  const [one, other] = [0, 1] as const
  const send = (person: 0 | 1): Promise<RawAnswer> => query(kind, proxies[kind].lines[person])

  test('one person has a limited number of requests under way; the others are served meanwhile, and that person afterwards', async () => {
    const held: ServerResponse[] = []
    manager.answer((_request, response) => void held.push(response))
    const crowd = Array.from({ length: atOnce + 12 }, () => send(one))
    const answers: RawAnswer[] = []
    for (const answer of crowd) void answer.then((got) => answers.push(got))
    await expect.poll(() => answers.length, { timeout: 60_000 }).toBe(12)
    for (const { status, headers, body } of answers)
      expect([status, headers['retry-after'], typeof JSON.parse(body).error]).toEqual([503, '1', 'string'])
    await expect.poll(() => held.length, { timeout: 60_000 }).toBe(atOnce)
    manager.reset()
    expect((await send(other)).status).toBe(200)
    for (const response of held) response.end('{}')
    await Promise.all(crowd)
    await expect.poll(async () => (await send(one)).status, { timeout: 60_000 }).toBe(200)
  })

  test('one person sends a limited number of requests a second in the long run', async () => {
    const startedAt = performance.now()
    const answers: RawAnswer[] = []
    for (let sent = 0; sent < burst + 60; sent++) answers.push(await send(one))
    const seconds = (performance.now() - startedAt) / 1_000
    const refused = answers.filter(({ status }) => status !== 200)
    for (const { status, headers } of refused) expect([status, headers['retry-after']]).toEqual([503, '1'])
    expect(answers.length - refused.length).toBeLessThanOrEqual(burst + seconds * perSecond + 1)
    expect((await send(other)).status).toBe(200)
  })
})
