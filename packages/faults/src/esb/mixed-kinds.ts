// The kinds of calls in the mixed load: authentications, reads, writes, ESB calls, notifications, and calls by
// strangers, who have no access.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { ask, personHeaders } from '../installation.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import type { CallKind, CallRecord } from './caller.ts'
import type { EsbStage } from './stage.ts'

const createText =
  'mutation($p: ID!, $s: String!) { made: createTenant(projectId: $p, input: { name: $s, slug: $s }) { id } }'

// The number of users. The load of five times the capacity comes from many users with few concurrent requests each.
const maintainers = 256
const batchSize = 16

/**
 * Returns the kinds of calls for this URL. The kinds are used in rotation. As in production, nearly half of the calls
 * are authentications. Several users send the reads and changes, because the requests of one user are serialized.
 */
export async function mixedKinds(stage: EsbStage, url: string): Promise<CallKind[]> {
  const people: string[] = []
  while (people.length < maintainers)
    people.push(...(await Promise.all(Array.from({ length: batchSize }, () => addMaintainer(stage, url)))))
  return people.flatMap((personId) => kindsOf(stage, url, personId))
}

async function addMaintainer({ site }: EsbStage, url: string): Promise<string> {
  const personId = randomUUID()
  await ask(url, personId, '{ me { id } }')
  await ask(
    url,
    site.adminId,
    'mutation($p: ID!, $u: ID!) { addUserToProject(projectID: $p, userID: $u, role: "maintainer") { id } }',
    { p: site.projectId, u: personId },
  )
  return personId
}

function kindsOf(stage: EsbStage, url: string, personId: string): CallKind[] {
  const { site } = stage
  const machine = { authorization: `Bearer ${site.machineToken}`, 'content-type': 'application/json' }
  const authenticate: CallKind = {
    name: 'authenticate',
    url: `${url}/api/validate-proxy-auth`,
    headers: { 'x-proxy-auth': proxySecret, 'content-type': 'application/json' },
    body: JSON.stringify({
      authorization_header: machine.authorization,
      application_id: site.applicationId,
    }),
  }
  const query = (name: string, caller: string, body: object): CallKind => ({
    name,
    url: `${url}/query`,
    headers: personHeaders(caller),
    body: JSON.stringify(body),
  })
  const read = query('read', personId, { query: '{ projects { id name } }' })
  const create = query('create', personId, {
    query: createText,
    variables: { p: site.projectId, s: 't-{key}' },
  })
  const stranger = query('stranger', '{key}', {
    query: `mutation { updateTenant(id: "${site.tenantId}", input: { name: "taken" }) { id } }`,
  })
  const emit: CallKind = {
    name: 'emit',
    url: `${url}/api/machine/comms/emit`,
    headers: { ...machine, 'idempotency-key': '{key}' },
    body: JSON.stringify({
      application_id: site.applicationId,
      tenant_id: site.tenantId,
      recipients: [site.memberId],
      title: '{key}',
    }),
  }
  const call = { ...stage.goodCall(), url: `${url}/esb/${site.applicationId}/orders` }
  return [
    authenticate,
    call,
    authenticate,
    read,
    authenticate,
    create,
    authenticate,
    call,
    authenticate,
    emit,
    stranger,
    read,
  ]
}

/** Returns whether the call had its intended effect. A stranger's call may contain GraphQL errors. */
export const isAccepted = ({ status, isComplete, problem, kind }: CallRecord): boolean =>
  isComplete && status >= 200 && status < 300 && (kind === 'stranger' || problem === '')

/** Returns whether a stranger's mutation succeeded. */
export const isUnauthorizedSuccess = ({ kind, status, problem }: CallRecord): boolean =>
  kind === 'stranger' && status === 200 && problem === ''

/** Reads the keys of all stored writes. */
export async function readWritten(sql: Pool): Promise<string[]> {
  const { rows } = await sql.query<{ key: string }>(
    "select substr(slug, 3) as key from tenants where slug like 't-%' union all select title from notifications",
  )
  return rows.map(({ key }) => key)
}

/** Returns acknowledged writes that are missing. */
export function checkWritten(calls: readonly CallRecord[], written: readonly string[]): string[] {
  const stored = new Set(written)
  return calls
    .filter((call) => (call.kind === 'create' || call.kind === 'emit') && isAccepted(call))
    .filter(({ key }) => !stored.has(key))
    .map(({ kind, key }) => `${kind} ${key}`)
}
