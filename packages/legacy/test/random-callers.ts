// Generates the machine users, endpoints, backends, pilets and tokens of a random installation.
import type { Builder } from './builder.ts'
import { oddCallbackUrls, oddNames, oddPaths, oddUserIds } from './odd-texts.ts'
import type { OldApplication, OldEndpoint, OldMachine, OldTenant } from './old-rows.ts'

/** An installation under construction, and the values that its rows can use. */
export type Made = Builder & {
  odd: number
  people: string[]
  tenants: OldTenant[]
  clones: OldApplication[]
}

export function addCallers(made: Made): void {
  const machines = made.tenants.flatMap((tenant) =>
    Array.from({ length: made.random.int(0, 2) }, () => addMachine(made, tenant)),
  )
  for (const clone of made.clones) {
    for (const path of made.random.some(['/orders', '/stock/list', '/'], 0.4))
      addEndpoint(made, clone, path, machines)
    if (machines.length > 0 && made.random.chance(0.3)) addBackend(made, clone, machines)
  }
  addPilets(made)
  addTokens(made)
}

function addMachine(made: Made, tenant: { id: string }): OldMachine {
  const { random, odd, install } = made
  const enabled = random.chance(0.85)
  const texts = random.chance(odd) ? { name: random.pick(oddNames) } : {}
  if (random.chance(odd)) return made.machine(tenant, { name: 'no credential', username: 'none' })
  if (random.chance(odd)) return made.machine(tenant, { username: 'other', password_hash: '$2b$10$notours' })
  if (random.chance(0.3)) {
    const username = random.pick(['robot', 'batch', `robot-${random.text(4)}`])
    return made.basic(tenant, { username, enabled, ...texts })
  }
  const shared = install.machines.findLast(({ token_hash }) => token_hash !== null)
  const secret = shared === undefined ? undefined : install.secrets.machines.get(shared.id)
  if (secret !== undefined && 'token' in secret && random.chance(odd))
    return made.bearer(tenant, { token: secret.token, enabled, ...texts })
  return made.bearer(tenant, { enabled, ...texts })
}

const variants: Partial<OldEndpoint>[] = [
  { auth_type: 'Basic', auth_username: 'us', auth_password: 'secret of us' },
  { auth_type: 'Basic', auth_username: 'us', auth_password: 'another secret' },
  { auth_type: 'Bearer', auth_token: 'token of us' },
  { auth_type: 'Bearer', auth_token: null },
  { input_message_type: 'JSON', output_message_type: 'JSON' },
  { transformation_template: '{"fixed":1}', output_message_type: 'JSON' },
]

function addEndpoint(made: Made, clone: OldApplication, path: string, machines: readonly OldMachine[]): void {
  const { random, odd } = made
  const name = random.chance(odd) ? random.pick(oddNames) : random.pick(['Orders', 'Stock'])
  const row = made.endpoint(clone, {
    name,
    consume_url: random.chance(odd) ? random.pick(oddPaths) : path,
    enabled: random.chance(0.85),
    log_level: random.pick(['NONE', 'BASIC', 'FULL']),
    callers: random.some(machines, 0.3).map(({ id }) => id),
    ...(random.chance(0.3) ? random.pick(variants) : {}),
  })
  if (random.chance(0.2)) row.url = `${row.url}/${random.pick(['eu', 'us'])}`
  if (random.chance(odd)) row.url = random.pick(['', 'no url', 'ftp://up.example/'])
  if (random.chance(odd)) row.callers.push(made.newId())
}

function addBackend(made: Made, clone: OldApplication, machines: readonly OldMachine[]): void {
  const { random, odd } = made
  made.backend(clone, random.pick(machines), {
    ...(random.chance(odd) ? { callback_url: random.pick(oddCallbackUrls) } : {}),
    ...(random.chance(odd) ? { callback_token: null } : {}),
    ...(random.chance(odd) ? { version: 'v'.repeat(300) } : {}),
  })
}

function addPilets(made: Made): void {
  const { random, odd, install } = made
  for (const project of install.projects)
    for (const name of random.some(['@acme/menu', '@acme/cart', 'clock'], 0.5)) {
      const pilet = made.pilet(project, { name, version: random.pick(['1.0.0', '1.2.3-beta.1+b2']) })
      const bytes = Buffer.from(pilet.content, 'hex')
      if (random.chance(odd)) made.pilet(project, { name, version: pilet.version, bytes })
      if (random.chance(odd)) made.pilet(project, { name, version: pilet.version })
      if (random.chance(odd)) made.pilet(project, { name, version: '2.0.0', hash: 'f'.repeat(64) })
      if (random.chance(odd)) made.pilet(project, { name: 'Not A Name', version: '1.0.0' })
      if (random.chance(odd)) made.pilet(project, { name, version: 'latest' })
    }
}

function addTokens(made: Made): void {
  const { random, odd, people } = made
  const past = '2025-01-01T00:00:00Z'
  for (const person of people) {
    if (random.chance(0.4)) continue
    const token = made.token(person, {
      revoked: random.chance(0.1),
      expires_at: random.chance(0.1) ? past : null,
    })
    if (random.chance(odd)) made.token(person, { token_prefix: token.token_prefix })
    if (random.chance(odd)) made.token(person, { hash: '$2b$10$notours' })
    if (random.chance(odd)) made.token(random.pick(oddUserIds))
  }
}
