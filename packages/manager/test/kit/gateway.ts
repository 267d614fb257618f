// Endpoints with a machine user that may call them, and calls through the gateway.
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { type TestApp, type TestAppOptions, startTestApp } from './app.ts'
import { createMachine } from '@manager/harness/credentials.ts'
import { accessCalls, endpointCalls } from './endpoints.ts'
import { type SeededProject, seedProject, seedUser } from '@manager/harness/seed.ts'
import { startUpstream } from './upstream.ts'

export type LoggedCall = {
  request_id: string | null
  endpoint_id: string
  machine_user_id: string
  source_ip: string
  method: string
  path: string
  target_url: string
  response_status: number | null
  duration_ms: number | null
  transformed: boolean
  failure: string | null
  request_headers: { name: string; value: string }[] | null
  request_body: string | null
  response_headers: { name: string; value: string }[] | null
  response_body: string | null
}

export type HeaderLine = [name: string, value: string]
/** A request, as raw as it can be sent. */
export type Sent = {
  method?: string
  headers?: HeaderLine[]
  body?: string | Buffer
  /** The length of the body is not announced. */
  isChunked?: boolean
  /** Null sends no Authorization header. */
  token?: string | null
  /** Another process of the service. */
  to?: TestApp
}
export type Answered = Pick<IncomingMessage, 'headers' | 'rawHeaders'> & {
  status: number
  body: Buffer
  text: string
  /** The text of an answer `{error}`; undefined for any other. */
  error: string | undefined
}
export type GatewayScene = Awaited<ReturnType<typeof gatewayScene>>

/** The answer to a request, once it is complete; rejects when it is cut. */
export function answerTo(outgoing: ClientRequest): Promise<Answered> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('error', reject)
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode: status = 0, headers, rawHeaders } = response
        const body = Buffer.concat(chunks)
        const text = body.toString()
        const { error } = text.startsWith('{"error"') ? (JSON.parse(text) as { error: string }) : {}
        resolve({ status, headers, rawHeaders, body, text, error })
      })
    })
  })
}

/** The service, an upstream, and endpoints between them. */
export async function startGateway(options: TestAppOptions = {}) {
  const [service, upstream] = await Promise.all([startTestApp(options), startUpstream()])
  const scene = await gatewayScene(service)
  const close = async () => {
    await upstream.close()
    await service.close()
  }
  return { service, upstream, ...scene, close }
}
export type Gateway = Awaited<ReturnType<typeof startGateway>>

/** Another process of the service, with other limits of requests and answers. */
export const startSized = ({ service }: Gateway, request: number, answer: number): Promise<TestApp> =>
  startTestApp({
    database: service.database,
    env: { SVC_ESB_MAX_REQUEST_BYTES: String(request), SVC_ESB_MAX_RESPONSE_BYTES: String(answer) },
  })

/** A project whose maintainer makes endpoints, and a machine user that calls them. */
export async function gatewayScene(service: TestApp, name = 'shop') {
  const project: SeededProject = await seedProject(service.sql, name)
  const admin = await seedUser(service.sql, `${name}-admin`, 'administrator')
  const machine = await createMachine(service, admin, project.environmentId)
  const token = machine.token as string
  const endpoints = endpointCalls(() => service)
  const access = accessCalls(() => service)
  let count = 0
  /** A request with exactly these header lines after Host and Authorization; its body is still to be sent. */
  const open = (path: string, { method = 'GET', headers = [], to = service, ...sent }: Sent = {}) => {
    const { hostname, port } = new URL(to.url)
    const credential = sent.token === undefined ? token : sent.token
    const own = [
      'host',
      'gateway.example',
      ...(credential === null ? [] : ['authorization', `Bearer ${credential}`]),
    ]
    return request({ hostname, port, method, path, headers: [...own, ...headers.flat()], agent: false })
  }
  return {
    open,
    /** The same with its body, and its answer. */
    send: (path: string, sent: Sent = {}): Promise<Answered> => {
      const { body, isChunked = false, headers = [] } = sent
      const length: HeaderLine = isChunked
        ? ['transfer-encoding', 'chunked']
        : ['content-length', String(Buffer.byteLength(body ?? ''))]
      const outgoing = open(path, { ...sent, headers: body === undefined ? headers : [...headers, length] })
      // A text would make Node write the headers in its encoding.
      outgoing.end(typeof body === 'string' ? Buffer.from(body) : body)
      return answerTo(outgoing)
    },
    project,
    admin,
    machine: { id: machine.id, token },
    endpoints,
    access,
    /** An endpoint the machine user may call, and its path. */
    endpoint: async (input: Record<string, unknown> = {}) => {
      const consumeURL = `/e${++count}`
      const { data, error } = await endpoints.create(admin, project.applicationId, {
        name: `endpoint ${count}`,
        consumeURL,
        ...input,
      })
      if (error !== null) throw new Error(error)
      const row = data.row as { id: string; consumeURL: string }
      const allowed = await access.allow(admin, { machineUserID: machine.id, endpointID: row.id })
      if (allowed.error !== null) throw new Error(allowed.error)
      return {
        id: row.id,
        accessId: allowed.data.row.id as string,
        path: `/esb/${project.applicationId}${row.consumeURL}`,
      }
    },
    /** A call with the machine user's token. */
    call: (path: string, init: RequestInit = {}) =>
      fetch(`${service.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
      }),
    /** What the log has of an endpoint's calls, oldest first. */
    logged: async (endpointId: string): Promise<LoggedCall[]> => {
      const { rows } = await service.sql.query<LoggedCall>(
        'select * from esb_audit_logs where endpoint_id = $1 order by created_at, id',
        [endpointId],
      )
      return rows
    },
  }
}
