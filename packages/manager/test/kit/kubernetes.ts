// In front of a Kubernetes API server: lets something happen between the read of an object and the write that follows.
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Kubernetes } from '@manager/harness/engines/kubernetes.ts'
import { createCertificate } from '@manager/harness/certificates.ts'

export type Meddler = {
  server: string
  /** What the API server answered to each write. */
  patchStatuses: number[]
  close(): Promise<void>
}

/** Passes everything on; before each of the first `times` writes, `act` is done. */
export async function startMeddler(
  cluster: Kubernetes,
  { times, act }: { times: number; act: () => Promise<unknown> },
): Promise<Meddler> {
  const patchStatuses: number[] = []
  const { cert, key } = createCertificate('meddler', ['127.0.0.1'], { issuer: cluster.authority })
  let acted = 0
  const proxy = createServer({ cert, key }, (incoming, outgoing) => {
    const pass = async (): Promise<void> => {
      if (incoming.method === 'PATCH' && acted++ < times) await act()
      const options = {
        method: incoming.method ?? 'GET',
        headers: incoming.headers,
        ca: cluster.authority.cert,
      }
      const passed = request(new URL(incoming.url ?? '/', cluster.server), options, (answer) => {
        if (incoming.method === 'PATCH') patchStatuses.push(answer.statusCode ?? 0)
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      })
      passed.on('error', () => outgoing.destroy())
      incoming.pipe(passed)
    }
    pass().catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    server: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    patchStatuses,
    close: () =>
      new Promise((resolve) => {
        proxy.close(() => resolve())
        proxy.closeAllConnections()
      }),
  }
}
