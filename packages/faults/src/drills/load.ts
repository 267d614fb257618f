// Calls the service during a drill. Records each failure, and each acknowledgment with its time, so that the data can
// be checked afterwards.
import { randomBytes, randomUUID } from 'node:crypto'
import { proxySecret } from '@manager/harness/callers.ts'
import { formOf, formPart, boundary, piletPath } from '@manager/harness/pilets.ts'
import { type Installation, type NextUrl, personHeaders } from '../installation.ts'

export type CallKind = 'read' | 'write' | 'emit' | 'upload' | 'gateway' | 'validate'
/** An object that the service has accepted, with its id. */
export type Acknowledged = {
  kind: 'write' | 'emit' | 'upload'
  id: string
  /** When the request was sent and when its response arrived, on the clock of this process. */
  sentAt: number
  ackedAt: number
}
type Failure = { kind: CallKind; at: number; reason: string }
export type Load = {
  acknowledged: Acknowledged[]
  failures: Failure[]
  /** Number of completed calls by kind. */
  counts: Record<CallKind, number>
  /** Stops the load and waits for calls in flight. */
  stop(): Promise<void>
}

const callMs = 30_000
const machineHeaders = ({ machineToken }: Installation): Record<string, string> => ({
  authorization: `Bearer ${machineToken}`,
  'content-type': 'application/json',
})

/**
 * Sends one call. Resolves to the id of the created object, or to null if the call creates none. Throws if the call
 * fails.
 */
type Call = (base: string, site: Installation) => Promise<string | null>

const calls: Record<CallKind, Call> = {
  read: async (base, site) => {
    const query = 'query($p: ID!) { tenant(projectId: $p, slug: "acme") { id name project { slug } } }'
    await graphql(base, site, query, { p: site.projectId })
    return null
  },
  write: async (base, site) => {
    const slug = `t-${randomBytes(8).toString('hex')}`
    const query =
      'mutation($p: ID!, $s: String!) { made: createTenant(projectId: $p, input: { name: $s, slug: $s }) { id } }'
    const { made } = await graphql<{ made: { id: string } }>(base, site, query, {
      p: site.projectId,
      s: slug,
    })
    return made.id
  },
  emit: async (base, site) => {
    const body = {
      application_id: site.applicationId,
      tenant_id: site.tenantId,
      recipients: [site.memberId],
      title: randomUUID(),
    }
    const headers = { ...machineHeaders(site), 'idempotency-key': randomUUID() }
    const { notification_id } = await post<{ notification_id: string }>(
      base,
      '/api/machine/comms/emit',
      headers,
      body,
    )
    return notification_id
  },
  upload: async (base, site) => {
    const version = `1.0.${Date.now()}-${randomBytes(4).readUInt32BE()}`
    const content = `//@pilet v:2\nexport const secret = '${randomBytes(12_000).toString('hex')}'\n`
    const response = await fetch(
      base + piletPath({ projectId: site.projectId, name: '@drill/store', version }),
      {
        method: 'POST',
        headers: {
          ...personHeaders(site.adminId),
          'content-type': `multipart/form-data; boundary=${boundary}`,
        },
        body: new Uint8Array(formOf(formPart({}, content))),
        signal: AbortSignal.timeout(callMs),
      },
    )
    await succeeded(response)
    return version
  },
  gateway: async (base, site) => {
    await post(base, `/esb/${site.applicationId}/orders`, machineHeaders(site), { order: 1 })
    return null
  },
  validate: async (base, site) => {
    const headers = { 'x-proxy-auth': proxySecret, 'content-type': 'application/json' }
    const body = { authorization_header: `Bearer ${site.personalToken}`, application_id: site.applicationId }
    const { valid } = await post<{ valid: boolean }>(base, '/api/validate-proxy-auth', headers, body)
    if (!valid) throw new Error('the token is not valid')
    return null
  },
}

/**
 * Starts workers that send calls in a loop, with a short pause after each call. `workers` is the number of
 * workers for each kind of call.
 */
export function startLoad(
  site: Installation,
  next: NextUrl,
  workers: Partial<Record<CallKind, number>>,
): Load {
  const counts = { read: 0, write: 0, emit: 0, upload: 0, gateway: 0, validate: 0 }
  const [acknowledged, failures]: [Acknowledged[], Failure[]] = [[], []]
  const state = { isStopped: false }
  const once = async (kind: CallKind): Promise<void> => {
    const sentAt = Date.now()
    try {
      const id = await calls[kind](next(), site)
      if (id !== null) acknowledged.push({ kind: kind as 'write', id, sentAt, ackedAt: Date.now() })
    } catch (error) {
      const { message, cause } = error as Error & { cause?: Error }
      failures.push({ kind, at: Date.now(), reason: `${message} ${cause?.message ?? ''}`.trim() })
    }
    counts[kind]++
  }
  const worker = async (kind: CallKind): Promise<void> => {
    while (!state.isStopped) {
      await once(kind)
      await new Promise((resolve) => setTimeout(resolve, kind === 'upload' ? 250 : 25))
    }
  }
  const kinds = Object.entries(workers) as [CallKind, number][]
  const all = kinds.flatMap(([kind, count]) => Array.from({ length: count }, () => worker(kind)))
  return {
    acknowledged,
    failures,
    counts,
    stop: async () => {
      state.isStopped = true
      await Promise.all(all)
    },
  }
}

async function graphql<T>(
  base: string,
  site: Installation,
  query: string,
  variables: Record<string, unknown>,
): Promise<T> {
  const body = { query, variables }
  const answer = await post<{ data: T; errors?: { message: string }[] }>(
    base,
    '/query',
    personHeaders(site.adminId),
    body,
  )
  if (answer.errors !== undefined) throw new Error(`/query: ${answer.errors[0]?.message}`)
  return answer.data
}

async function post<T>(
  base: string,
  path: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<T> {
  const response = await fetch(base + path, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(callMs),
  })
  return JSON.parse(await succeeded(response)) as T
}

async function succeeded(response: Response): Promise<string> {
  const text = await response.text()
  if (!response.ok)
    throw new Error(`${new URL(response.url).pathname}: ${response.status} ${text.slice(0, 200)}`)
  return text
}
