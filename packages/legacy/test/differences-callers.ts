// Sends the credentials of an imported installation and calls its endpoints, as their owners would.
import { basicValue, bearer, call, throughProxy, validate } from '@manager/harness/credentials.ts'
import { symmetricDifference } from './symmetric-difference.ts'
import { type Imported, type ImportedClone, newIdOf } from './imported.ts'
import type { OldEndpoint } from './old-rows.ts'

// Each call uses its own client address, so that rejections do not cause a lockout.
let clients = 0
const nextClient = (): string => {
  clients += 1
  return `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`
}

/** Checks that a token or password is valid if and only if it was valid before and has been imported. */
export async function credentialDifferences(
  imported: Imported,
  clones: ReadonlyMap<string, ImportedClone>,
): Promise<string[]> {
  const { install, service } = imported
  const anyApplication = [...clones.values()][0]?.applicationId ?? '00000000-0000-4000-8000-000000000000'
  const found: string[] = []
  for (const { id, revoked, expires_at } of install.tokens) {
    const isValid = newIdOf(imported, 'tokens', id) !== null && !revoked && expires_at === null
    const text = install.secrets.tokens.get(id) ?? ''
    const { body } = await validate(service.url, `Bearer ${text}`, anyApplication, nextClient())
    if ((body.valid === true) !== isValid) found.push(`token ${id}: valid is ${body.valid}`)
  }
  for (const { id, token_hash } of install.machines) {
    const secret = install.secrets.machines.get(id)
    if (secret === undefined) continue
    const isValid = install.machines.some(
      (same) =>
        same.enabled &&
        (same.id === id || (token_hash !== null && same.token_hash === token_hash)) &&
        newIdOf(imported, 'machine_users', same.id) !== null,
    )
    const has =
      'token' in secret ? await checkToken(imported, secret.token) : await checkPassword(imported, id, clones)
    if (has !== isValid) found.push(`machine user ${id}: valid is ${has}`)
  }
  return found
}

async function checkToken({ service }: Imported, token: string): Promise<boolean> {
  const headers = { ...bearer(token), ...throughProxy(nextClient()) }
  const { body } = await call(service.url, '/api/machine/check', headers)
  return body.authenticated === true
}

/** Checks the password with the current user name, in an application that belongs to the machine user's project. */
async function checkPassword(
  imported: Imported,
  id: string,
  clones: ReadonlyMap<string, ImportedClone>,
): Promise<boolean> {
  const { rows } = await imported.service.sql.query<{ username: string; application: string | null }>(
    `select m.username, (select a.id from applications a where a.project_id = m.project_id limit 1) as application
     from machine_users m where m.id = $1`,
    [newIdOf(imported, 'machine_users', id)],
  )
  const row = rows[0]
  const secret = imported.install.secrets.machines.get(id)
  if (row === undefined || secret === undefined || !('password' in secret)) return false
  // In a project without applications, a proxy has nothing to request.
  const application = row.application ?? [...clones.values()][0]?.applicationId ?? ''
  const header = basicValue(row.username, secret.password)
  const { body } = await validate(imported.service.url, header, application, nextClient())
  return body.valid === true
}

const behaviour = (row: Omit<OldEndpoint, 'id' | 'callers'>): string =>
  JSON.stringify([
    row.url === '' ? null : row.url,
    row.auth_type,
    row.auth_username,
    row.input_message_type,
    row.output_message_type,
    row.transformation_template,
  ])

/**
 * Checks that exactly the same callers can call each endpoint, at its old path or below a tenant's path, with the same
 * result.
 */
export async function endpointDifferences(imported: Imported): Promise<string[]> {
  const { install, expected, service } = imported
  const { rows } = await service.sql.query<OldEndpoint>('select * from endpoints')
  const found: string[] = []
  const calling = [...install.secrets.machines].filter(([id]) => !expected.keptAside.machine_users.has(id))
  for (const row of rows) {
    const old = install.endpoints.filter(({ id }) => newIdOf(imported, 'endpoints', id) === row.id)
    for (const own of old) {
      if (behaviour(own) !== behaviour(row)) found.push(`endpoint ${own.id}: ${behaviour(row)}`)
      if (!row.consume_url.endsWith(own.consume_url))
        found.push(`endpoint ${own.id}: is at ${row.consume_url}`)
    }
    const wanted = new Set(old.flatMap((own) => expected.callers.callersOf(own)))
    const reached: string[] = []
    for (const [id, secret] of calling)
      if (
        'token' in secret &&
        expected.callers.standIn(id) === id &&
        (await reaches(imported, row, old[0], secret.token))
      )
        reached.push(id)
    const isEnabled = new Set(install.machines.filter(({ enabled }) => enabled).map(({ id }) => id))
    const hasToken = (id: string): boolean => 'token' in (install.secrets.machines.get(id) ?? {})
    // An endpoint without a URL forwards nothing.
    const may = [...wanted].filter((id) => row.url !== null && isEnabled.has(id) && hasToken(id))
    found.push(
      ...symmetricDifference(
        `caller of ${row.consume_url} (${old.map(({ id }) => id).join()})`,
        may,
        reached,
      ),
    )
  }
  return found
}

/** Returns whether a call reaches the target of the endpoint with the right credentials. */
async function reaches(
  { service, upstream }: Imported,
  row: OldEndpoint,
  old: OldEndpoint | undefined,
  token: string,
): Promise<boolean> {
  upstream.reset()
  const headers = { ...bearer(token), ...throughProxy(nextClient()), 'content-type': 'application/json' }
  const path = `/esb/${row.application_id}${row.consume_url}`
  const answer = await fetch(service.url + path, { method: 'POST', headers, body: '{}' })
  await answer.text()
  const [received] = upstream.received
  if (received === undefined) return false
  return row.url === upstream.url + received.url && received.headers.authorization === authorization(old)
}

/** Returns the Authorization header that the partner must receive. */
function authorization(old: OldEndpoint | undefined): string | undefined {
  if (old?.auth_type === 'Basic') return basicValue(old.auth_username, old.auth_password ?? '')
  return old?.auth_type === 'Bearer' ? `Bearer ${old.auth_token}` : undefined
}
