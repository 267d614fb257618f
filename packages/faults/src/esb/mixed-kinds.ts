// Calls of all kinds for one process of callers: authentications, reads, writes, calls of the ESB, notifications, and
// strangers who may do nothing.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { ask, personHeaders } from '../installation.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import type { CallKind, CallRecord } from './caller.ts'
import type { EsbStage } from './stage.ts'

const createText =
  'mutation($p: ID!, $s: String!) { made: createTenant(projectId: $p, input: { name: $s, slug: $s }) { id } }'

// Five times the capacity comes from many people, each with few requests at a time.
const maintainers = 256
const addedTogether = 16

/**
 * The kinds at this address, in turn; half of them are authentications, as in an installation. Reads and changes come from
 * several people: the requests of one person take turns.
 */
export async function mixedKinds(stage: EsbStage, url: string): Promise<CallKind[]> {
  const people: string[] = []
  while (people.length < maintainers)
    people.push(
      ...(await Promise.all(Array.from({ length: addedTogether }, () => addMaintainer(stage, url)))),
    )
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

/** Whether the call did what it was made for. */
export const isAccepted = ({ status, isWhole, problem, kind }: CallRecord): boolean =>
  isWhole && status >= 200 && status < 300 && (kind === 'stranger' || problem === '')

/** A stranger whose mutation was answered with data. */
export const isLetIn = ({ kind, status, problem }: CallRecord): boolean =>
  kind === 'stranger' && status === 200 && problem === ''

/** The keys of what writes left in the database. */
export async function readWritten(sql: Pool): Promise<string[]> {
  const { rows } = await sql.query<{ key: string }>(
    "select substr(slug, 3) as key from tenants where slug like 't-%' union all select title from notifications",
  )
  return rows.map(({ key }) => key)
}

/** Writes that were acknowledged and are not there. */
export function checkWritten(calls: readonly CallRecord[], written: readonly string[]): string[] {
  const there = new Set(written)
  return calls
    .filter((call) => (call.kind === 'create' || call.kind === 'emit') && isAccepted(call))
    .filter(({ key }) => !there.has(key))
    .map(({ kind, key }) => `${kind} ${key}`)
}
