// A trace collector: a real HTTP server on loopback that decodes OTLP/JSON or, on demand, does not respond.
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Value = { stringValue?: string; intValue?: number | string; doubleValue?: number; boolValue?: boolean }
type Pair = { key: string; value: Value }
type OtlpSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes?: Pair[]
  status?: { code?: number; message?: string }
}
type Body = {
  resourceSpans: { resource: { attributes: Pair[] }; scopeSpans: { spans: OtlpSpan[] }[] }[]
}
export type CollectedSpan = Omit<OtlpSpan, 'attributes' | 'kind'> & {
  kind: string
  attributes: Record<string, unknown>
}
export type Collector = Awaited<ReturnType<typeof startCollector>>

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']
const valuesOf = (pairs: readonly Pair[] = []): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))

/** Starts a collector that accepts spans until `refuse` is called. */
export async function startCollector() {
  const spans: CollectedSpan[] = []
  const bodies: string[] = []
  const authorizations: (string | undefined)[] = []
  const resources: Record<string, unknown>[] = []
  let respond = (response: ServerResponse): void =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      bodies.push(text)
      authorizations.push(request.headers.authorization)
      if (request.url !== '/v1/traces') return response.writeHead(404).end()
      for (const { resource, scopeSpans } of (JSON.parse(text) as Body).resourceSpans) {
        resources.push(valuesOf(resource.attributes))
        for (const { kind, attributes, ...span } of scopeSpans.flatMap((scope) => scope.spans))
          spans.push({ ...span, kind: kinds[kind] ?? '', attributes: valuesOf(attributes) })
      }
      respond(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** All received spans, including those that the collector refused. */
    spans,
    bodies,
    authorizations,
    resources,
    /** Makes all later exports hang, or refuses them with this status. */
    refuse: (how: 'hang' | number): void => {
      respond = (response) => void (how === 'hang' || response.writeHead(how).end())
    },
    ofTrace: (traceId: string): CollectedSpan[] => spans.filter((span) => span.traceId === traceId),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

let count = 0

/** Returns the trace context of a caller, with a new trace id. */
export function callersTrace(flags = '01') {
  const traceId = `4bf92f3577b34da6a3ce${(++count).toString(16).padStart(12, '0')}`
  const spanId = '00f067aa0ba902b7'
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` }
}
