// The control channel of the harness programs. It accepts JSON requests on a separate port.
import { type IncomingMessage, createServer } from 'node:http'

type Handlers = Record<string, (body: unknown) => unknown>

/** Serves `/<name>` with the JSON result of the handler with that name. */
export function serveControl(port: number, handlers: Handlers): void {
  const server = createServer((request, response) => {
    const handle = handlers[(request.url ?? '').slice(1)]
    readText(request)
      .then((text) => handle?.(text === '' ? null : JSON.parse(text)))
      .then((value) => response.end(JSON.stringify(value ?? null)))
      .catch((error: unknown) => response.writeHead(500).end(JSON.stringify(String(error))))
  })
  server.requestTimeout = 0
  server.listen(port, '127.0.0.1')
}

/** Returns a function that calls a handler of the program on this port. It throws if the handler fails. */
export const createControl =
  (port: number) =>
  async <T>(name: string, body?: unknown): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}/${name}`, {
      method: 'POST',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const value = (await response.json()) as T
    if (!response.ok) throw new Error(`${name}: ${String(value)}`)
    return value
  }

async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string
  return text
}
