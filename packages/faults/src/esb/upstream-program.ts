// Runs two ESB upstreams in a separate process. The good upstream records its calls. The bad upstream misbehaves in
// the way that the query string specifies. Arguments: the control port, and the secret that the good upstream
// requires.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { partnerHeader } from '../installation.ts'
import { startRawUpstream } from '@manager/harness/raw-upstream.ts'
import { serveControl } from '../control.ts'
import { misbehaviors } from './misbehaviors.ts'

const [port, secret] = process.argv.slice(2) as [string, string]
const hits: string[] = []

const good = createServer((request, response) => {
  const isRight = request.headers.authorization === `Bearer ${secret}`
  hits.push(String(request.headers['x-request-id']))
  request.resume().on('end', () => {
    response
      .writeHead(isRight ? 200 : 401, { 'content-type': 'application/json', [partnerHeader]: 'yes' })
      .end('{"taken":true}')
  })
})
good.keepAliveTimeout = 60_000
await new Promise<void>((resolve) => good.listen(0, '127.0.0.1', resolve))

const bad = await startRawUpstream((socket, request) => {
  const [, number = ''] = /\?case=(\d+) /.exec(request.start) ?? []
  misbehaviors[Number(number)]?.play(socket, request)
})

serveControl(Number(port), {
  urls: () => ({ good: `http://127.0.0.1:${(good.address() as AddressInfo).port}`, bad: bad.url }),
  hits: () => hits,
  badHits: () => bad.requests.length,
  open: () => bad.sockets.size,
})
