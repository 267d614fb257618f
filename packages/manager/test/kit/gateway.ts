// Creates endpoints and a machine user that may call them, and makes gateway calls.
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
/** A request, with full control over its headers and body. */
export type Sent = {
  method?: string
  headers?: HeaderLine[]
  body?: string | Buffer
  /** Whether to send the body without a Content-Length. */
  isChunked?: boolean
  /** The token in the Authorization header; null omits the header. */
  token?: string | null
  /** The service process to call; defaults to the process of the scene. */
  to?: TestApp
}
export type GatewayResponse = Pick<IncomingMessage, 'headers' | 'rawHeaders'> & {
  status: number
  body: Buffer
  text: string
  /** The message of an `{error}` response, otherwise undefined. */
  error: string | undefined
}
export type GatewayScene = Awaited<ReturnType<typeof gatewayScene>>

/** Resolves with the complete response. Rejects if the response is aborted. */
export function responseTo(outgoing: ClientRequest): Promise<GatewayResponse> {
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

/** Starts the service and an upstream, and creates a gateway scene. */
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

/** Starts another service process with these size limits for requests and responses. */
export const startSized = ({ service }: Gateway, request: number, answer: number): Promise<TestApp> =>
  startTestApp({
    database: service.database,
    env: { SVC_ESB_MAX_REQUEST_BYTES: String(request), SVC_ESB_MAX_RESPONSE_BYTES: String(answer) },
  })

/** Creates a project, an administrator who creates endpoints, and a machine user that calls them. */
export async function gatewayScene(service: TestApp, name = 'shop') {
  const project: SeededProject = await seedProject(service.sql, name)
  const admin = await seedUser(service.sql, `${name}-admin`, 'administrator')
  const machine = await createMachine(service, admin, project.environmentId)
  const token = machine.token as string
  const endpoints = endpointCalls(() => service)
  const access = accessCalls(() => service)
  let count = 0
  /**
   * Opens a request with exactly these header lines after Host and Authorization. The caller of `open` sends the body.
   */
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
    /** Sends a request with its body and returns the response. */
    send: (path: string, sent: Sent = {}): Promise<GatewayResponse> => {
      const { body, isChunked = false, headers = [] } = sent
      const length: HeaderLine = isChunked
        ? ['transfer-encoding', 'chunked']
        : ['content-length', String(Buffer.byteLength(body ?? ''))]
      const outgoing = open(path, { ...sent, headers: body === undefined ? headers : [...headers, length] })
      // With a string body, Node would encode the headers in the encoding of the body.
      outgoing.end(typeof body === 'string' ? Buffer.from(body) : body)
      return responseTo(outgoing)
    },
    project,
    admin,
    machine: { id: machine.id, token },
    endpoints,
    access,
    /** Creates an endpoint that the machine user may call. */
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
    /** Calls with the token of the machine user. */
    call: (path: string, init: RequestInit = {}) =>
      fetch(`${service.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
      }),
    /** Returns the logged calls of an endpoint, oldest first. */
    logged: async (endpointId: string): Promise<LoggedCall[]> => {
      const { rows } = await service.sql.query<LoggedCall>(
        'select * from esb_audit_logs where endpoint_id = $1 order by created_at, id',
        [endpointId],
      )
      return rows
    },
  }
}
