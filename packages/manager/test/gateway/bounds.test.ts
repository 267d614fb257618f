// Tests the resource limits of gateway calls, and that other calls are not blocked.
import { request } from 'node:http'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, gatewayScene, startGateway } from '../kit/gateway.ts'

let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      SVC_ESB_MAX_CALLS_PER_ORIGIN: '4',
    },
  })
})
afterAll(async () => {
  await gateway.close()
})

const bearer = () => ({ authorization: `Bearer ${gateway.machine.token}` })

/** Sends the head of a request and part of its body, and then nothing. */
function halfSent(path: string, head: string, part: string): Promise<Socket> {
  const { hostname, port } = new URL(gateway.service.url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${bearer().authorization}\r\n${head}\r\n\r\n${part}`,
        () => resolve(socket),
      )
    })
    socket.on('error', () => {})
  })
}

test('a caller that goes away keeps their place until the upstream is done with their call', async () => {
  // A TCP server that never responds to a TLS handshake, so no connection is established.
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const { path } = await gateway.endpoint({ url: `https://127.0.0.1:${port}/` })
  const vanish = (): Promise<number> =>
    gateway.call(path, { signal: AbortSignal.timeout(150) }).then(
      ({ status }) => status,
      () => 0,
    )
  await expect.poll(vanish).toBe(503)
  silent.close()
})

test('a project that has all its calls to an upstream under way takes none of another project', async () => {
  const neighbor = await gatewayScene(gateway.service, 'neighbor')
  const url = `${gateway.upstream.url}/shared`
  const [own, foreign] = [await gateway.endpoint({ url }), await neighbor.endpoint({ url })]
  const held: (() => void)[] = []
  gateway.upstream.handle((_request, response) => void held.push(() => response.end()))
  const waiting = Array.from({ length: 4 }, () => gateway.call(own.path))
  await expect.poll(() => held.length).toBe(4)
  expect((await gateway.call(own.path)).status).toBe(503)
  gateway.upstream.handle(null)
  expect((await neighbor.call(foreign.path)).status).toBe(200)
  for (const end of held) end()
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

test('rows that are written again after the database forgot them still protect their endpoint', async () => {
  const endpoint = await gateway.endpoint({ url: `${gateway.upstream.url}/forget` })
  await gateway.call(endpoint.path)
  gateway.upstream.answer((_request, response) => {
    void gateway.service.sql
      .query(
        'with l as (delete from esb_audit_logs where endpoint_id = $1) delete from esb_callers where endpoint_id = $1',
        [endpoint.id],
      )
      .then(() => response.end('{}'))
  })
  expect((await gateway.call(endpoint.path)).status).toBe(200)
  gateway.upstream.answer((_request, response) => void response.end('{}'))
  const { error } = await gateway.endpoints.remove(gateway.admin, endpoint.id)
  expect(error).toContain('1 logged ESB request')
})

test('a caller that has gone before their call is forwarded is not called for', async () => {
  const endpoint = await gateway.endpoint({ url: `${gateway.upstream.url}/gone` })
  await gateway.call(endpoint.path)
  gateway.upstream.received.length = 0
  const connections = () =>
    promisify(gateway.service.app.server.server.getConnections.bind(gateway.service.app.server.server))()
  const before = await connections()
  const client = await gateway.service.sql.connect()
  await client.query('begin')
  await client.query('lock table esb_audit_logs in share mode')
  const outgoing = request(`${gateway.service.url}${endpoint.path}`, { headers: bearer() })
  outgoing.on('error', () => {})
  outgoing.end()
  await expect
    .poll(async () => {
      const { rows } = await gateway.service.sql.query(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into esb_audit_logs%'",
      )
      return rows.length
    })
    .toBe(1)
  outgoing.destroy()
  await expect.poll(connections).toBe(before)
  await client.query('commit')
  client.release()
  await expect
    .poll(async () => (await gateway.logged(endpoint.id)).at(-1)?.failure)
    .toBe('the caller closed the connection')
  expect(gateway.upstream.received).toHaveLength(0)
})

test('TRACE is forwarded without the credentials of the endpoint, which its answer would repeat', async () => {
  const { path } = await gateway.endpoint({
    url: `${gateway.upstream.url}/trace`,
    authType: 'Bearer',
    authToken: 'endpoint-secret',
  })
  const trace = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        `${gateway.service.url}${path}`,
        { method: 'TRACE', headers: bearer() },
        (response) => {
          response.resume()
          response.on('end', () => resolve(response.statusCode ?? 0))
        },
      )
      outgoing.on('error', reject)
      outgoing.end()
    })
  expect(await trace()).toBe(200)
  expect(gateway.upstream.received.at(-1)?.method).toBe('TRACE')
  expect(gateway.upstream.received.at(-1)?.headers.authorization).toBeUndefined()
})

test('a body that breaks off puts no text into an answer that has begun', async () => {
  const { path } = await gateway.endpoint({ url: `${gateway.upstream.url}/early` })
  gateway.upstream.handle((_request, response) => {
    response.writeHead(200, { 'content-length': '190' })
    response.write('A'.repeat(50))
  })
  const socket = await halfSent(path, 'transfer-encoding: chunked', '5\r\nhello\r\n')
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
  await expect.poll(() => answer).toContain('AAAA')
  socket.write('zz no chunk\r\n')
  await new Promise((resolve) => socket.once('close', resolve))
  gateway.upstream.handle(null)
  expect(answer.split('HTTP/1.1')).toHaveLength(2)
  expect(answer.endsWith('A'.repeat(50))).toBe(true)
})
