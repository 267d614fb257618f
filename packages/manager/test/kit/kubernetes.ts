// A proxy for a Kubernetes API server that can run code between the read of an object and the write that follows.
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Kubernetes } from '@manager/harness/engines/kubernetes.ts'
import { createCertificate } from '@manager/harness/certificates.ts'

export type InterferingProxy = {
  server: string
  /** The status of each write. */
  patchStatuses: number[]
  close(): Promise<void>
}

/** Forwards all requests. Runs `act` before each of the first `times` writes. */
export async function startInterferingProxy(
  cluster: Kubernetes,
  { times, act }: { times: number; act: () => Promise<unknown> },
): Promise<InterferingProxy> {
  const patchStatuses: number[] = []
  const { cert, key } = createCertificate('interfering-proxy', ['127.0.0.1'], { issuer: cluster.authority })
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
